import Foundation

/// Writes structured fields by the algorithms of RFC 9651 §4.1.
struct StructuredFieldWriter {
    typealias Fault = StructuredFields.Fault

    /// The text so far.
    private(set) var text = ""

    mutating func write(_ list: [StructuredFields.Member]) throws(Fault) {
        for (index, member) in list.enumerated() {
            if index > 0 { text += ", " }
            try write(member)
        }
    }

    mutating func write(_ dictionary: StructuredFields.Dictionary) throws(Fault) {
        for (index, entry) in dictionary.enumerated() {
            if index > 0 { text += ", " }
            try writeKey(entry.key)
            if case .item(let item) = entry.value, item.value == .boolean(true) {
                try write(item.parameters)
            } else {
                text += "="
                try write(entry.value)
            }
        }
    }

    mutating func write(_ item: StructuredFields.Item) throws(Fault) {
        try write(item.value)
        try write(item.parameters)
    }

    private mutating func write(_ member: StructuredFields.Member) throws(Fault) {
        switch member {
        case .item(let item): try write(item)
        case .innerList(let list):
            text += "("
            for (index, item) in list.items.enumerated() {
                if index > 0 { text += " " }
                try write(item)
            }
            text += ")"
            try write(list.parameters)
        }
    }

    private mutating func write(_ parameters: StructuredFields.Parameters) throws(Fault) {
        for parameter in parameters {
            text += ";"
            try writeKey(parameter.key)
            if parameter.value != .boolean(true) {
                text += "="
                try write(parameter.value)
            }
        }
    }

    private mutating func writeKey(_ key: String) throws(Fault) {
        guard let first = key.utf8.first, StructuredFieldAlphabet.beginsKey(first), key.utf8.allSatisfy(StructuredFieldAlphabet.isInKey)
        else {
            throw Fault(
                "The key \"\(VisibleText.of(key))\" isn't valid: use lower-case letters, digits and _-.*, beginning with a letter or *.")
        }
        text += key
    }

    private mutating func write(_ value: StructuredFields.BareItem) throws(Fault) {
        switch value {
        case .integer(let number): try write(number, "integer")
        case .decimal(let number): try write(number)
        case .string(let string): try writeString(string)
        case .token(let token):
            guard let first = token.utf8.first, StructuredFieldAlphabet.beginsToken(first),
                token.utf8.allSatisfy(StructuredFieldAlphabet.isInToken)
            else {
                throw Fault("A token is empty, doesn't begin with a letter or *, or has a character that tokens can't have: use a string.")
            }
            text += token
        case .bytes(let data): text += ":" + data.base64EncodedString() + ":"
        case .boolean(let boolean): text += boolean ? "?1" : "?0"
        case .date(let seconds):
            text += "@"
            try write(seconds, "date")
        case .displayString(let string): writeDisplayString(string)
        }
    }

    private mutating func write(_ number: Int64, _ kind: String) throws(Fault) {
        guard number.magnitude <= 999_999_999_999_999 else {
            throw Fault("The \(kind) \(number) has more than 15 digits, which structured fields can't have.")
        }
        text += String(number)
    }

    private mutating func write(_ number: Double) throws(Fault) {
        guard number.isFinite else {
            throw Fault("The decimal \(number) isn't a finite number, which structured fields require.")
        }
        // The range is checked first, because converting a large number to an integer traps.
        guard number.magnitude < 1e13 else {
            throw Fault("The decimal \(number) has more than 12 digits before its point, which structured fields can't have.")
        }
        let thousandths = Int64((number * 1_000).rounded(.toNearestOrEven))
        guard thousandths.magnitude <= 999_999_999_999_999 else {
            throw Fault("The decimal \(number) has more than 12 digits before its point, which structured fields can't have.")
        }
        var fraction = String(thousandths.magnitude % 1_000 + 1_000).dropFirst()
        while fraction.count > 1, fraction.hasSuffix("0") { fraction.removeLast() }
        text += (thousandths < 0 ? "-" : "") + "\(thousandths.magnitude / 1_000).\(fraction)"
    }

    private mutating func writeString(_ string: String) throws(Fault) {
        guard string.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Fault("A string has a control character or a character outside ASCII: use a display string or bytes.")
        }
        text += "\""
        for scalar in string.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        text += "\""
    }

    private mutating func writeDisplayString(_ string: String) {
        text += "%\""
        for byte in string.utf8 {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%"), byte != UInt8(ascii: "\"") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + String(UInt16(byte) + 0x100, radix: 16).dropFirst()
            }
        }
        text += "\""
    }
}
