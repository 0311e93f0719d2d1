"""Reading a yes or a no out of a Chinese answer."""

import re
import unicodedata

from evals.reading.types import NO, REFUSED, UNPARSED, YES, Reading

_REFUSAL = re.compile(r"抱歉|对不起|(?:无法|不能|不便)(?:回答|提供|协助|帮助|查看|处理|满足)")
_OPEN = re.compile(r"不确定|不清楚|不知道|不好说|难以|无法|不能确定|不一定|可能|也许|或许|似乎|是否|有没有|是不是|吗")
_DENIAL = re.compile(
    r"[没沒](?!错|錯|问题|問題)|不是|不存在|不在|不包含|不对|不對|看不到|看不见|看不見|未[见有发現發]|否|无|無|^不$"
)
_CLAIM = re.compile(r"(?<![所具拥擁])有|存在|^是的?$|^(?:对|對)的?$|^[没沒][错錯]|看得?到|看得[见見]|包含|出现")
_SENTENCE = re.compile(r"[。!?;\n,、]|但是?|不过|然而")


def read_chinese(text: str) -> Reading:
    """What the first clause that takes a stand says; clauses that leave the question open take none."""
    said = unicodedata.normalize("NFKC", text)
    for clause in (part.strip(" \t\"'\u2018\u2019\u201c\u201d.:*") for part in _SENTENCE.split(said)):
        if _OPEN.search(clause):
            continue
        if _DENIAL.search(clause):
            return NO
        if _CLAIM.search(clause):
            return YES
    return REFUSED if _REFUSAL.search(said) else UNPARSED
