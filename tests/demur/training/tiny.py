"""Tiny models with weights drawn at random, of the families that specialists are: no network."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

WORDS = "<pad> <s> </s> <unk> <image> Question Answer : ? - , what colour is the thing yes no red blue green"
IDS = {word: number for number, word in enumerate(WORDS.split())}

CHAT = (
    "{% for m in messages %}{{ m['role'] }} : "
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}<image> {% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{% if m['role'] == 'assistant' %} </s>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant : {% endif %}"
)


def text_config() -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(IDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.3,  # with the usual 0.02 attention hardly changes what a tiny model says
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )


def tokenizer() -> PreTrainedTokenizerFast:
    plain = Tokenizer(models.WordLevel(IDS, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )


def save_llama(folder: Path) -> Path:
    """A text model."""
    torch.manual_seed(0)
    LlamaForCausalLM(text_config()).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def save_llava(folder: Path) -> Path:
    """A vision-language model with a chat template; its pictures are 4 patches."""
    torch.manual_seed(0)
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=16,
        patch_size=8,
        projection_dim=16,
    )
    config = LlavaConfig(vision_config=vision, text_config=text_config(), image_token_id=IDS["<image>"])
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}),
        tokenizer=tokenizer(),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT,
    ).save_pretrained(folder)
    return folder
