"""Reads and writes protobuf messages without their definitions."""


def varint(data, i):
    value = shift = 0
    while True:
        byte = data[i]
        i += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, i


def put_varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def put_bytes(number, data):
    return put_varint(number << 3 | 2) + put_varint(len(data)) + data


def put_int(number, n):
    return put_varint(number << 3) + put_varint(n)


def fields(data):
    """The fields of a message: number, wire type, value, and the bytes that all of it takes."""
    i = 0
    while i < len(data):
        start = i
        key, i = varint(data, i)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, i = varint(data, i)
        else:
            size, i = varint(data, i) if kind == 2 else ({1: 8, 5: 4}[kind], i)
            if i + size > len(data):
                raise ValueError("cut off")
            value = data[i : i + size]
            i += size
        yield number, kind, value, data[start:i]


class Message(dict):
    """A message's values by field number, each a list."""

    def __init__(self, data):
        super().__init__()
        for number, _, value, _ in fields(data):
            self.setdefault(number, []).append(value)

    def all(self, number):
        return self.get(number, [])

    def int(self, number):
        """The last integer of a field, as an int64; 0 if absent."""
        value = self.get(number, [0])[-1]
        return value - (1 << 64) if value >> 63 else value

    def bytes(self, number):
        return self.get(number, [b""])[-1]

    def text(self, number):
        return self.bytes(number).decode("utf-8", "replace")
