from enum import Enum
from typing import Annotated, Literal, Optional, Union
from pydantic import BaseModel, Field


class Mood(str, Enum):
    GOOD = "good"


class A(BaseModel):
    """What was found."""

    text: str = Field(..., min_length=1)
    mood: Mood = Mood.GOOD
    tags: "list[str] | None" = None
    size: Literal["small", 1]
    pair: tuple[int, ...] = (1, -2)
    other: Optional[Annotated[Union[int, str], "either"]] = {"a": [1.5]}
