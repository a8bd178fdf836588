extension JSONText {
    /// A value as JSON has it: dates in RFC 3339, bytes in Base64, NaN and the infinities as texts.
    mutating func value(_ value: LogValue, depth: Int = 0) {
        switch value {
        case .null: raw("null")
        case .string(let value): string(value)
        case .int(let value): integer(value)
        case .double(let value): double(value)
        case .bool(let value): bool(value)
        case .data(let value): base64(value)
        case .date(let value):
            byte("\"")
            TimestampText.write(value, into: &self)
            byte("\"")
        case .array(let values):
            guard depth < LogValue.maximumDepth else { return string(LogValue.tooDeep) }
            byte("[")
            for element in values {
                self.value(element, depth: depth + 1)
                byte(",")
            }
            dropComma()
            byte("]")
        case .dictionary(let values):
            guard depth < LogValue.maximumDepth else { return string(LogValue.tooDeep) }
            members(values, depth: depth + 1)
        }
    }

    /// Metadata as an object.
    mutating func members(_ metadata: LogMetadata, depth: Int = 0) {
        byte("{")
        for pair in metadata {
            string(pair.key)
            byte(":")
            value(pair.value, depth: depth)
            byte(",")
        }
        dropComma()
        byte("}")
    }

    /// A key with its comma and a text, if there is a text.
    ///
    /// - Parameter end: what closes objects that the key has opened.
    mutating func optional(_ key: StaticString, _ text: String?, _ end: StaticString = "") {
        guard let text else { return }
        raw(key)
        string(text)
        raw(end)
    }
}
