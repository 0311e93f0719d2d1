"""Fine-tuning of specialists with losses that keep confidences honest. Needs the extra [train]."""

from demur.training.rows import TrainingRow, read_training_rows
from demur.training.run import Trained, train_specialist
from demur.training.settings import TrainSettings

__all__ = ["TrainSettings", "Trained", "TrainingRow", "read_training_rows", "train_specialist"]
