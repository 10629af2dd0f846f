"""clean-recording.py IN.jsonl OUT.jsonl INSTALL_PATH NEW_PATH

Makes a recording of a real cluster fit to be kept: answers of ShowConfigurations echo the
whole environment of the process and name the path that Milvus is installed under. Only
Milvus's own keys stay, and the path is replaced; the messages are written anew, so that
their lengths are right. Everything else is kept byte for byte.
"""

import base64
import json
import sys

from wire import fields, put_bytes

# Keys that come from the environment and still are Milvus's.
FROM_ENVIRONMENT = {"commonmetricsport", "etcdport", "kafkaport", "minioport", "proxyinternalport"}
# The first words of Milvus's keys.
GROUPS = {
    "autoindex", "common", "credential", "datacoord", "datanode", "etcd", "gpu", "grpc", "hook", "indexcoord", "indexnode", "kafka", "knowhere", "localstorage",
    "log", "messagequeue", "metastore", "minio", "mq", "natsmq", "proxy", "pulsar", "querycoord", "querynode", "quotaandlimits", "rocksmq",
    "rootcoord", "tikv", "tls", "trace",
}


def pair(data):
    key = value = b""
    for number, _, content, _ in fields(data):
        if number == 1:
            key = content
        elif number == 2:
            value = content
    return key, value


def rename(message, old, new):
    """Replaces a path wherever a message, or one inside it, has it. Texts that hold a path are no
    valid messages: "/" and "{" would be keys of wire types that do not exist any more."""
    out = b""
    for number, kind, value, whole in fields(message):
        if kind != 2 or old not in value:
            out += whole
            continue
        try:
            value = rename(value, old, new)
        except (ValueError, IndexError, KeyError):
            value = value.replace(old, new)
        out += put_bytes(number, value)
    return out


def clean(answer, old, new, dropped):
    """ShowConfigurationsResponse: status 1, configurations 2 (KeyValuePair)."""
    pairs = [pair(value) for number, _, value, _ in fields(answer) if number == 2]
    folded = {key.replace(b".", b"").decode() for key, _ in pairs if b"." in key and key.split(b".")[0].decode() in GROUPS}
    out = b""
    for number, kind, value, whole in fields(answer):
        if number != 2 or kind != 2:
            out += whole
            continue
        key, content = pair(value)
        name = key.decode()
        if "." in name:
            own = name.split(".")[0] in GROUPS
        else:
            own = name in folded or name in FROM_ENVIRONMENT
        if not own:
            dropped.add(name)
            continue
        content = content.replace(old, new)
        out += put_bytes(2, put_bytes(1, key) + (put_bytes(2, content) if content else b""))
    return out


def main():
    source, target, old, new = sys.argv[1:5]
    old, new = old.encode(), new.encode()
    dropped = set()
    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            record = json.loads(line)
            if record["method"].endswith("/ShowConfigurations") and "response" in record:
                answer = clean(base64.b64decode(record["response"]), old, new, dropped)
                record["response"] = base64.b64encode(answer).decode()
            elif "response" in record:
                answer = rename(base64.b64decode(record["response"]), old, new)
                record["response"] = base64.b64encode(answer).decode()
            out.write(json.dumps(record) + "\n")
    print(len(dropped), "keys that are not Milvus's were left out:", " ".join(sorted(dropped)))


main()
