extension EdmDecimal {
    /// A finite number taken apart: 0.d₁d₂d₃… × 10^point, without zeros at either end of the digits.
    struct Parts: Hashable {
        let isNegative: Bool
        let digits: [UInt8]
        let point: Int

        init?(_ text: String) {
            var digits: [UInt8] = []
            var isNegative = false
            var point = 0
            var hasPoint = false
            var rest = Array(text.utf8)[...]
            if rest.first == UInt8(ascii: "-") {
                isNegative = true
                rest.removeFirst()
            }
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: ".") {
                    hasPoint = true
                } else if (0x30...0x39).contains(byte) {
                    if !hasPoint, !(digits.isEmpty && byte == 0x30) { point += 1 }
                    if digits.isEmpty, byte == 0x30 {
                        if hasPoint { point -= 1 }
                    } else {
                        digits.append(byte)
                    }
                } else {
                    guard let exponent = Int(String(decoding: rest, as: UTF8.self)) else { return nil }
                    let (sum, overflow) = point.addingReportingOverflow(exponent)
                    guard !overflow else { return nil }
                    point = sum
                    break
                }
            }
            while digits.last == 0x30 { digits.removeLast() }
            self.isNegative = isNegative && !digits.isEmpty
            self.digits = digits
            self.point = digits.isEmpty ? 0 : point
        }

        var isBounded: Bool { point.magnitude <= 1_000_000_000 }

        func plainText(upTo limit: Int) -> String? {
            guard !digits.isEmpty else { return "0" }
            guard digits.count <= limit, point.magnitude <= limit else { return nil }
            let text = String(decoding: digits, as: UTF8.self)
            let sign = isNegative ? "-" : ""
            if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + text }
            if point >= digits.count { return sign + text + String(repeating: "0", count: point - digits.count) }
            return sign + text.prefix(point) + "." + text.dropFirst(point)
        }

        /// Whether the absolute value is the smaller one.
        func isNearer(than other: Parts) -> Bool {
            if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
            return point != other.point ? point < other.point : digits.lexicographicallyPrecedes(other.digits)
        }
    }

    /// What the number is worth, for comparing.
    private enum Worth: Hashable {
        case notANumber, negativeInfinity, finite(Parts), infinity

        var order: Int {
            switch self {
            case .notANumber: 0
            case .negativeInfinity: 1
            case .finite: 2
            case .infinity: 3
            }
        }
    }

    private var worth: Worth {
        switch description {
        case "INF": .infinity
        case "-INF": .negativeInfinity
        default: isFinite ? Parts(description).map { .finite($0) } ?? .notANumber : .notANumber
        }
    }
}

extension EdmDecimal: Hashable, Comparable {
    /// Whether the values are the same, however they are written.
    public static func == (left: EdmDecimal, right: EdmDecimal) -> Bool {
        left.description == right.description || left.worth == right.worth
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(worth)
    }

    /// Whether the left value is the smaller one.
    public static func < (left: EdmDecimal, right: EdmDecimal) -> Bool {
        guard case .finite(let first) = left.worth, case .finite(let second) = right.worth else {
            return left.worth.order < right.worth.order
        }
        if first.isNegative != second.isNegative { return first.isNegative }
        return first.isNegative ? second.isNearer(than: first) : first.isNearer(than: second)
    }
}
