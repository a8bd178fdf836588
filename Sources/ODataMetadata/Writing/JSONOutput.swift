/// A JSON document to write, with its members in order.
indirect enum JSONOutput {
    typealias Member = (name: String, value: JSONOutput)

    case null
    case bool(Bool)
    /// A number, as written.
    case number(String)
    case string(String)
    case array([JSONOutput])
    case object([Member])

    /// Writes the value, each member and element on a separate line.
    func write(to text: inout String, indentation: Int) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): Self.write(string, to: &text)
        case .array(let elements):
            Self.write("[", "]", count: elements.count, to: &text, indentation: indentation) { index, text in
                elements[index].write(to: &text, indentation: indentation + 1)
            }
        case .object(let members):
            Self.write("{", "}", count: members.count, to: &text, indentation: indentation) { index, text in
                Self.write(members[index].name, to: &text)
                text += ": "
                members[index].value.write(to: &text, indentation: indentation + 1)
            }
        }
    }

    private static func write(
        _ open: String, _ close: String, count: Int, to text: inout String, indentation: Int, _ item: (Int, inout String) -> Void
    ) {
        text += open
        for index in 0..<count {
            text += index == 0 ? "\n" : ",\n"
            text += String(repeating: "  ", count: indentation + 1)
            item(index, &text)
        }
        if count > 0 { text += "\n" + String(repeating: "  ", count: indentation) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if scalar.value < 0x20 {
                    let digits = String(scalar.value, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "\""
    }
}
