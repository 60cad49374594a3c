"""How names are spelled, and how that is said to whoever spells one otherwise."""

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
PROJECT = r"^[a-z0-9][a-z0-9-]*$"
ADDRESS = r"^https://[^\s<>\"']+$"
TEXT = r"\S"

SAID = {
    NAME: "a name has letters A to Z and a to z, digits, dots, underscores and hyphens, and begins with a letter or a digit",
    PROJECT: "a project is named with letters a to z, digits and hyphens, and begins with a letter or a digit",
    ADDRESS: "an address begins with https:// and has neither spaces nor quotation marks",
    TEXT: "there is nothing in it but blanks",
}
