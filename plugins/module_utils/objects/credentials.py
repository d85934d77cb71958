# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a credential looks like where nobody says that it is one: by the name before it, or by its own form.

``mask`` knows the ways in which texts give a name a value: configuration (INI, properties, YAML, JSON, XML, SQL), command lines,
URLs, and what programs print of their own data. It errs on the side of masking, but a name whose last word says that it is only
the place or a setting of a credential (``passwordSecretRef``, ``--password-file``) keeps its value readable.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

MASK = "********"
# Names are read word by word: clientSecret, CLIENT_SECRET and client-secret are one. The last word may say that it is but a place.
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CREDENTIAL_ENDS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token"),
    *("credential", "apikey", "accesskey", "secretkey", "privatekey"),
)
_CREDENTIAL_WORDS = frozenset({"authorization", "credentials", "pwd", "passwords"})
_KEY_OWNERS = frozenset({"access", "api", "encryption", "private", "secret", "signing"})
_PLACES = frozenset(
    {"audience", "class", "count", "disabled", "enabled", "endpoint", "expiration", "expiry", "file", "id", "length", "mode", "name"}
    | {"names", "namespace", "path", "policy", "ref", "refs", "seconds", "secrets", "size", "ttl", "type", "uri", "url", "version"}
    | {"age", "algorithm", "audiences", "dir", "directory", "duration", "field", "folder", "format", "generator", "header", "interval"}
    | {"issuer", "kind", "label", "labels", "lifespan", "lifetime", "limit", "location", "method", "mount", "optional", "period", "prefix"}
    | {"provider", "required", "review", "reviews", "rotation", "selector", "source", "store", "timeout", "validity", "volume"}
)
# Texts without any of these hold nothing to mask; most have none, and looking for plain words is quick.
_HINTS = (
    *("pass", "pwd", "secret", "token", "credential", "authori", "stringdata", "bearer", "basic ", "identified", "signature", "sig="),
    *("mysql", "mariadb", "curl", "redis-cli", "x-amz-", "x-goog-", "eyj", "private key", "akia", "asia", "hf_", "xox", "glpat-"),
    *("github_pat", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "$2", "$apr1", "$1$", "$5$", "$6$", "$y$", "$argon2", "$scrypt", "$pbkdf2"),
)
_KEYS = re.compile(r"(?:access|api|encryption|private|signing)[-_. ]?key")
_SWITCH = re.compile(r"true|false|yes|no|on|off|null|~|none|nil|[01]|\"\"|''", re.IGNORECASE)
_MARK = re.compile(r"\*{8}(?: \((?:before|after)\))?")
# Of a shell variable without braces only one that is called like a credential: a password can begin with a dollar sign.
_REFERENCE = re.compile(r"\$\([^()]*\)|\$\{\w+\}|\{\{[^{}]*\}\}|\$\w*(?:pass|pwd|secret|token|cred|key)\w*", re.IGNORECASE)
# What API servers say about a field without quoting it, or after its quotation was masked.
_VERDICT = re.compile(r"(?:Invalid|Unsupported|Duplicate|Required|Forbidden|Too long|Too many)(?: value)?(?::.*)?", re.DOTALL)

# Only names with such a word in them are looked at; whether they are a credential's is asked then.
_WORD = r"(?:pass|pwd|secret|token|credential|authorization|(?:access|api|encryption|private|signing)[-_.]?key)"
_NAME = rf"(?<![\w.-])(?=[\w.-]{{0,160}}{_WORD})(?P<name>[\w.-]{{1,160}})"
_REFERRED = r"(?:\$\([^()\n]*\)|\$\{\w+\}|\{\{[^{}\n]*\}\})(?=[\s\"',;]|\Z)"
_BS = r"\\{0,8}"  # quotes inside quoted JSON carry backslashes
_QUOTED = r'"(?:[^"\\]|\\.){0,8000}"' + r"|'(?:[^'\\]|\\.|''){0,8000}'" + r"|(?P<b>\\{1,8})(?P<c>[\"'])[^\n]{0,8000}?(?<!\\)(?P=b)(?P=c)"
# A word of a text; punctuation ends it only where no more of a value can follow, or where the next name begins.
_NEXT = r"""[\w.-]{1,60}["']?[ \t]*[=:]"""
_BARE = (
    rf"""(?:[^\s"'`\\,;&|<>(){{}}\[\]]|\\(?!["'])(?![nrt](?:\s|\Z|\W|{_NEXT}))"""
    rf"""|(?:["'`]|[,;&|<>(){{}}\[\]]{{1,8}})(?=[\w$!#%^*+/~.@-])(?!{_NEXT}))+"""
)
_VALUE = rf"{_REFERRED}|{_QUOTED}|{_BARE}"
_LETTERS = re.IGNORECASE | re.DOTALL
_Shown = Callable[[re.Match[str]], bool]


def _named(match: re.Match[str]) -> bool:
    return public(match["name"], match["value"])


def _in_flow(match: re.Match[str]) -> bool:
    """Whether no brace is open before the match, so that it is prose; or its name is no credential's."""
    before = match.string[: match.start() + 1]
    return _named(match) or (before.count("{") <= before.count("}") and "map[" not in before)


def _always(match: re.Match[str]) -> bool:
    return settled(match["value"])


_RULES: tuple[tuple[re.Pattern[str], _Shown], ...] = (
    # password=x, password = "x", --password=x, spec.env["PASSWORD"]: "x", {"password":"x"}
    (re.compile(rf"{_NAME}(?P<gap>{_BS}[\"'`]?\]?[ \t]*(?::=|=>|={{1,3}})(?!=)[ \t]*)(?P<value>{_VALUE})", _LETTERS), _named),
    (re.compile(rf"{_NAME}(?P<gap>{_BS}[\"']?\]?\s*:\s*)(?P<value>{_QUOTED})", _LETTERS), _named),
    (re.compile(rf"{_NAME}(?P<gap>{_BS}[\"']\s*:\s*)(?P<value>-?\d[\w.+-]*)", _LETTERS), _named),
    # What a server quotes of a field: `spec.password: Invalid value: "x": must be ...`.
    (
        re.compile(
            rf"{_NAME}(?P<gap>[\"'\]]*: (?:Invalid|Unsupported|Duplicate) value: )(?P<value>{_QUOTED}|[^\s\"'][^\n]*?(?=: |\Z))", _LETTERS
        ),
        _named,
    ),
    # {user: a, password: x}, {Password:x User:y}, map[password:x user:y]
    (
        re.compile(
            rf"(?<=[{{,\s\[]){_NAME}(?P<gap>{_BS}[\"']?[ \t]*:[ \t]*)"
            r"(?P<value>[^\s,{}\[\]\"'\\|>*&][^,{}\[\]\"\n]*?)(?=\s*(?:[,{}\[\]\"\n]|\Z)| [\w./-]+:)",
            _LETTERS,
        ),
        _in_flow,
    ),
    # --password x, "--password", "x", and both below each other as items of a list
    (
        re.compile(
            rf"(?<![\w.-])(?=[\w.-]{{0,80}}{_WORD})(?P<name>--?[a-z][\w.-]{{0,80}})"
            rf"(?P<gap>[ \t]+(?:\\\n[ \t]*)?|{_BS}[\"']?\s*,\s*|{_BS}[\"']?[ \t]*\n[ \t]*-[ \t]+)"
            rf"(?P<value>(?!{_BS}[\"']?-)(?:{_QUOTED}|(?![=|&;<>]){_BARE}))",
            _LETTERS,
        ),
        _named,
    ),
    # {"name": "PASSWORD", "value": "x"}; a JSON patch of a Secret names its place so
    (
        re.compile(
            rf"(?<![\w-])(?:name|key|path){_BS}[\"']?\s*[:=]\s*{_BS}[\"']?"
            rf"(?=[\w./-]{{0,160}}(?:{_WORD}|stringData))(?P<name>[\w./-]{{1,160}})"
            rf"(?P<gap>{_BS}[\"']?\s*,?\s*{_BS}[\"']?(?<![\w-])value{_BS}[\"']?\s*[:=]\s*)"
            rf"(?P<value>{_QUOTED}|[^\s\"',{{}}\[\]|>\\][^,{{}}\n\"]*)",
            _LETTERS,
        ),
        _named,
    ),
    (
        re.compile(
            rf"(?<![\w-])(?P<gap>value{_BS}[\"']?\s*[:=]\s*)(?P<value>{_QUOTED}|[^\s\"',{{}}\[\]|>\\][^,{{}}\n\"]*)"
            rf"(?=\s*,\s*{_BS}[\"']?(?:name|key){_BS}[\"']?\s*[:=]\s*{_BS}[\"']?(?=[\w./-]{{0,160}}{_WORD})(?P<name>[\w./-]{{1,160}}))",
            _LETTERS,
        ),
        _named,
    ),
    (re.compile(r"<name>(?P<name>[^<>]{1,160})(?P<gap></name>\s*<value>)(?P<value>[^<]+)(?=</value>)", _LETTERS), _named),
    (
        re.compile(
            r"<(?P<name>[\w:.-]{1,160})(?P<gap>(?:\s[^<>]{0,400})?>)(?P<value>\s*<!\[CDATA\[.*?\]\]>\s*|[^<]+)(?=</(?P=name)\s*>)", _LETTERS
        ),
        _named,
    ),
    # Whole Secrets inside texts
    (re.compile(rf"(?P<gap>stringData{_BS}[\"']?\s*:\s*\{{)(?P<value>[^{{}}]+)(?=\}})", _LETTERS), _always),
    # SQL, .netrc, and programs whose short options are no names
    (
        re.compile(
            r"(?P<gap>\bIDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)\s+(?:PASSWORD\s+)?)(?P<value>'(?:[^'\\]|\\.|'')*'|\"[^\"\n]*\")", _LETTERS
        ),
        _always,
    ),
    (re.compile(r"(?P<gap>\b(?:PASSWORD|passwd)\s+)(?P<value>'(?:[^'\\\n]|\\.|'')*')", _LETTERS), _always),
    (re.compile(r"(?P<gap>\blogin\s+\S+\s+password\s+)(?P<value>\S+)", _LETTERS), _always),
    (re.compile(r"(?P<gap>\b(?:mysql|mariadb)[\w-]*\b[^\n|;&]{0,400}?[\s\"',\[]-p)(?P<value>[^\s\"',$-][^\s\"',]*)", _LETTERS), _always),
    (
        re.compile(r"(?P<gap>\bcurl\b[^\n|;&]{0,400}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']+:)(?P<value>[^\s\"']+)", _LETTERS),
        _always,
    ),
    (
        re.compile(
            r"(?P<gap>\b(?:redis-cli\b[^\n|;&]{0,400}?\s-a|sshpass\s+-p|docker\s+login\b[^\n|;&]{0,400}?\s-p)\s*)"
            r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+)",
            _LETTERS,
        ),
        _always,
    ),
    (re.compile(r"(?P<gap>\s-pass(?:in|out|word)?\s+pass:)(?P<value>[^\s\"']+)", _LETTERS), _always),
)
# Recognised by their own form.
_FORMS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(
        r"(?P<head>\b(?:Authorization[\"']?\s*[:=]\s*[\"']?)?(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}",
        re.IGNORECASE,
    ),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}"),
    re.compile(r"\$(?:apr1|[156y]|argon2id?|scrypt|pbkdf2[\w-]*)\$[./A-Za-z0-9$=,+-]{16,}"),
    re.compile(r"\b(?:gh[oprsu]_|github_pat_|glpat-|hf_|xox[abprs]-)[A-Za-z0-9_-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"(?P<head>[?&](?:X-(?:Amz|Goog)-(?:Signature|Credential)|sig|signature)=)[^&\s\"'#]+", re.IGNORECASE),
    # A slash or an at sign inside a password is wrong there and happens; after a port comes a path.
    re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@\"'<>]*:)(?!\d{1,5}[/?#])[^\s\"'<>]{1,500}(?=@)", re.IGNORECASE),
)


@functools.lru_cache(maxsize=4096)
def is_credential(name: str) -> bool:
    """Tell whether ``name``, of a variable or key, calls its value a credential rather than the place of one."""
    if name.lower().startswith("/stringdata/"):
        return True  # a JSON patch of a Secret
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _PLACES:
        return False
    keys = any(owner in _KEY_OWNERS and key == "key" for owner, key in zip(words, words[1:], strict=False))
    return keys or words[-1] == "pass" or any(word in _CREDENTIAL_WORDS or word.endswith(_CREDENTIAL_ENDS) for word in words)


def settled(value: str) -> bool:
    """Tell whether there is nothing to hide in ``value`` whatever it is called: a switch, a reference, masked already."""
    plain = re.sub(r"\A(?:\\*[\"'])(.*?)(?:\\*[\"'])\Z", r"\1", value.strip(), flags=re.DOTALL).strip()
    return not plain or any(pattern.fullmatch(plain) for pattern in (_SWITCH, _MARK, _REFERENCE))


def public(name: str, value: str) -> bool:
    """Tell whether ``value`` may be shown: its name is no credential's, or it is a switch, a reference, a verdict, or masked."""
    return not is_credential(name) or settled(value) or bool(_VERDICT.fullmatch(value.strip()))


def suspicious(text: str) -> bool:
    """Tell whether ``text`` may hold a credential at all."""
    lower = text.lower()
    if any(hint in lower for hint in _HINTS) or ("://" in lower and "@" in lower):
        return True
    return "key" in lower and _KEYS.search(lower) is not None


def mask_inline(text: str) -> str:
    """Mask what is a credential by its form, and values that stand behind their names on a line."""
    for form in _FORMS:
        text = form.sub(lambda match: (match.groupdict().get("head") or "") + MASK, text)
    for pattern, shown in _RULES:
        text = _masked(pattern, shown, text)
    return text


def _masked(pattern: re.Pattern[str], shown: _Shown, text: str) -> str:
    """Mask each value that must not be shown. Inside one that may, others can follow: the search goes on behind its name."""
    pieces, done, at = [], 0, 0
    while match := pattern.search(text, at):
        at = match.start("value")
        if shown(match):
            continue
        value = match["value"]
        quotes = re.match(r"\\*[\"']", value)
        mark = quotes[0] if quotes and value.endswith(quotes[0]) and len(value) > len(quotes[0]) else ""
        pieces += [text[done:at], mark, MASK, mark]
        done = at = match.end("value")
    return "".join([*pieces, text[done:]])
