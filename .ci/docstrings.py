"""How docstrings look on the site: sessions as code, sources and costs on lines of their own, papers as links."""

import re

from griffe import Extension, GriffeLoader, Object

KEY = re.compile(r"(?<![\w`\]])\[([a-z]+\d{4}\w*)((?:,[^\]\[`]*)?)\](?![(\[:])")
LABEL = re.compile(r"^(Source|Cost|Promise|Order|Units?): +", re.MULTILINE)
SESSION = re.compile(r"^(?:>>> .*|>>>)(?:\n(?!\n).+)*(?:\n\n>>> .*(?:\n(?!\n).+)*)*", re.MULTILINE)


def for_site(text: str) -> str:
    """The docstring as the site's Markdown.

    >>> print(for_site("One more.\\n\\nSource: [geng2012], Theorem 3.\\n>>> 1 + 1\\n2"))
    One more.
    <BLANKLINE>
    <BLANKLINE>
    **Source:** [[geng2012][]], Theorem 3.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    text = SESSION.sub(lambda found: f"\n```pycon\n{found[0]}\n```", text)
    parts = re.split(r"(```pycon\n.*?\n```)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("```pycon") else _spoken(part) for part in parts)


def _spoken(text: str) -> str:
    text = LABEL.sub(lambda found: f"\n**{found[1]}:** ", text)
    return KEY.sub(lambda found: f"[[{found[1]}][]{found[2]}]", text)


class ForSite(Extension):
    """Writes every docstring for the site as it is loaded."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **kwargs: object) -> None:
        """One module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = for_site(obj.docstring.value)
