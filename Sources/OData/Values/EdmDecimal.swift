public import Foundation

/// A decimal number with any number of digits: `Edm.Decimal` (CSDL, section 3.3), and the text of any other number.
///
/// Foundation's `Decimal` rounds to 38 digits; this type keeps the original text, so that a number is written back with the same digits.
/// Numbers are equal if their values are: `1.50` equals `1.5`, and each keeps its text. `INF`, `-INF` and `NaN`, which 4.01 allows for
/// decimals of floating scale, are values too; `NaN` equals itself and is less than every other value.
///
/// Decodes numbers and numeric strings, with or without exponents. Decoders other than ``ODataDecoder`` pass numbers as Foundation's
/// `Decimal`, which limits them to 38 digits; they pass strings unchanged.
public struct EdmDecimal: Sendable {
    /// The number as text: digits, with the original fraction and exponent.
    public let description: String

    /// Creates a number from text such as `-12.50`, `3.1991163E7` or `INF`. Returns `nil` if the text isn't a number, or its exponent
    /// exceeds a billion.
    ///
    /// A leading `+` and redundant leading zeros are dropped.
    public init?(_ text: String) {
        if ["INF", "-INF", "NaN"].contains(text) {
            description = text
            return
        }
        guard let text = Self.normalized(text), let parts = Parts(text), parts.isBounded else { return nil }
        description = text
    }

    /// Creates a number from the digits of a valid JSON number.
    init(digits: String) {
        description = digits
    }

    /// Creates a whole number.
    public init(_ value: some BinaryInteger) {
        description = String(value)
    }

    /// Creates a number with all digits of a `Decimal`.
    public init(_ value: Decimal) {
        description = value.isNaN ? "NaN" : value.description
    }

    /// Creates a number with the fewest digits that identify the floating-point value.
    public init(_ value: Double) {
        description = NumberText.floating(value)
    }

    /// A Boolean value that indicates whether the number isn't `INF`, `-INF` or `NaN`.
    public var isFinite: Bool {
        !description.hasSuffix("N") && !description.hasSuffix("F")
    }

    /// The digits without an exponent, the default form of `Edm.Decimal` (JSON Format 4.01, section 24); `nil` if that takes more than a
    /// thousand digits, or the number isn't finite.
    public var plainText: String? {
        guard isFinite else { return nil }
        guard description.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return description }
        return Parts(description)?.plainText(upTo: 1_000)
    }

    /// The number as Foundation's `Decimal`; `nil` if it can't hold all digits.
    public var decimal: Decimal? {
        guard isFinite, let value = Decimal(string: description, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN else {
            return nil
        }
        return EdmDecimal(value) == self ? value : nil
    }

    /// The nearest `Double`; `nil` if the number is too large.
    public var double: Double? {
        floating(Double.self)
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Value.Type) -> Value? {
        switch description {
        case "INF": return .infinity
        case "-INF": return -.infinity
        case "NaN": return .nan
        default:
            guard let value = Value(description), value.isFinite else { return nil }
            return value
        }
    }

    /// Returns the number if it is whole and fits; `1.0` and `1E3` are whole.
    public func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        if let value = Value(description) { return value }
        guard isFinite, let parts = Parts(description) else { return nil }
        guard !parts.digits.isEmpty else { return 0 }
        guard parts.point >= parts.digits.count, parts.point <= 40 else { return nil }
        return parts.plainText(upTo: 48).flatMap { Value($0) }
    }

    /// Removes a plus sign and leading zeros, which JSON doesn't allow; `nil` if the text isn't a number.
    private static func normalized(_ text: String) -> String? {
        guard (try? NumberText.checked(text)) != nil else { return nil }
        var bytes = Array(text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
        while bytes.count > 1, bytes.first == 0x30, (0x30...0x39).contains(bytes[bytes.startIndex + 1]) { bytes.removeFirst() }
        return (isNegative ? "-" : "") + String(decoding: bytes, as: UTF8.self)
    }
}

extension EdmDecimal: CustomStringConvertible, LosslessStringConvertible, ExpressibleByIntegerLiteral {
    /// Creates a whole number.
    public init(integerLiteral value: Int64) {
        self.init(value)
    }
}

extension EdmDecimal: PropertySample {
    /// Returns a number that differs for each `number`.
    public static func propertySample(_ number: Int) -> EdmDecimal? {
        EdmDecimal(number)
    }
}

extension EdmDecimal {
    /// The parts of a finite number: 0.d₁d₂d₃… × 10^point, without leading or trailing zeros in the digits.
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

        /// Returns whether the absolute value is smaller than the other's.
        func isNearer(than other: Parts) -> Bool {
            if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
            return point != other.point ? point < other.point : digits.lexicographicallyPrecedes(other.digits)
        }
    }

    /// The numeric value, for comparison.
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
    /// Returns whether the values are equal, regardless of their text.
    public static func == (left: EdmDecimal, right: EdmDecimal) -> Bool {
        left.description == right.description || left.worth == right.worth
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(worth)
    }

    /// Returns whether the left value is smaller.
    public static func < (left: EdmDecimal, right: EdmDecimal) -> Bool {
        guard case .finite(let first) = left.worth, case .finite(let second) = right.worth else {
            return left.worth.order < right.worth.order
        }
        if first.isNegative != second.isNegative { return first.isNegative }
        return first.isNegative ? second.isNearer(than: first) : first.isNearer(than: second)
    }
}
