public import Foundation

/// A decimal number by its digits, however many: `Edm.Decimal` (CSDL, section 3.3), and the text of any other number.
///
/// Foundation's `Decimal` holds 38 digits and rounds the rest away; this keeps what was written, so that reading and writing again gives the
/// same digits. Two numbers are equal when their values are: `1.50` is `1.5`, and both keep their own text. `INF`, `-INF` and `NaN`, which
/// decimals of floating scale may be in 4.01, are values too; `NaN` equals itself here and is less than every other.
///
/// Read are numbers and texts of numbers, with exponents or without. Decoders other than ``ODataDecoder`` hand over numbers as Foundation's
/// `Decimal`, and so no more than 38 digits of them; texts they hand over whole.
public struct EdmDecimal: Sendable {
    /// The number as text: digits, with a fraction and an exponent where they were written.
    public let description: String

    /// Reads `-12.50`, `3.1991163E7`, `INF`; `nil` where the text is no number, or its exponent is beyond a billion.
    ///
    /// A leading `+` and superfluous leading zeros aren't kept.
    public init?(_ text: String) {
        if ["INF", "-INF", "NaN"].contains(text) {
            description = text
            return
        }
        guard let text = Self.normalised(text), let parts = Parts(text), parts.isBounded else { return nil }
        description = text
    }

    /// The digits of a JSON number, which are known to be one.
    init(digits: String) {
        description = digits
    }

    /// A whole number.
    public init(_ value: some BinaryInteger) {
        description = String(value)
    }

    /// A number with all of its digits.
    public init(_ value: Decimal) {
        description = value.isNaN ? "NaN" : value.description
    }

    /// A floating-point number, with the fewest digits that give it back.
    public init(_ value: Double) {
        description = NumberText.floating(value)
    }

    /// Whether it is neither `INF`, `-INF` nor `NaN`.
    public var isFinite: Bool {
        !description.hasSuffix("N") && !description.hasSuffix("F")
    }

    /// The digits without an exponent, as `Edm.Decimal` is written unless another form was agreed on (JSON Format 4.01, section 24);
    /// `nil` where that would take more than a thousand digits, or the number isn't finite.
    public var plainText: String? {
        guard isFinite else { return nil }
        guard description.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return description }
        return Parts(description)?.plainText(upTo: 1_000)
    }

    /// The number as Foundation's `Decimal`; `nil` where it can't hold all digits.
    public var decimal: Decimal? {
        guard isFinite, let value = Decimal(string: description, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN else {
            return nil
        }
        return EdmDecimal(value) == self ? value : nil
    }

    /// The nearest `Double`; `nil` where the number is too large for one.
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

    /// The number, if it is whole and fits; `1.0` and `1E3` are whole.
    public func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        if let value = Value(description) { return value }
        guard isFinite, let parts = Parts(description) else { return nil }
        guard !parts.digits.isEmpty else { return 0 }
        guard parts.point >= parts.digits.count, parts.point <= 40 else { return nil }
        return parts.plainText(upTo: 48).flatMap { Value($0) }
    }

    /// Without a plus and leading zeros, which JSON has none of; `nil` where it isn't a number.
    private static func normalised(_ text: String) -> String? {
        guard (try? NumberText.checked(text)) != nil else { return nil }
        var bytes = Array(text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
        while bytes.count > 1, bytes.first == 0x30, (0x30...0x39).contains(bytes[bytes.startIndex + 1]) { bytes.removeFirst() }
        return (isNegative ? "-" : "") + String(decoding: bytes, as: UTF8.self)
    }
}

extension EdmDecimal: CustomStringConvertible, LosslessStringConvertible, ExpressibleByIntegerLiteral {
    /// A whole number.
    public init(integerLiteral value: Int64) {
        self.init(value)
    }
}

extension EdmDecimal: EdmConvertible {
    /// The literal, without an exponent where a thousand digits do.
    public var edmValue: EdmValue {
        isFinite ? .number(plainText ?? description) : .double(double ?? .nan)
    }
}

extension EdmDecimal: PropertySample {
    /// A number that differs for each number.
    public static func propertySample(_ number: Int) -> EdmDecimal? {
        EdmDecimal(number)
    }
}

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
