import Foundation

/// Converts digits that the scanner has checked to numbers.
enum JSONNumber {
    /// Returns a whole number; `nil` if it doesn't fit.
    @inline(__always) static func integer<Value: FixedWidthInteger>(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Value? {
        let isNegative = bytes.pointee == UInt8(ascii: "-")
        let digits = isNegative ? bytes + 1 : bytes
        let length = isNegative ? count &- 1 : count
        // Eighteen digits always fit into 64 bits.
        guard length <= 18 else { return longInteger(digits, length, isNegative) }
        var value: Int64 = 0
        for index in 0..<length { value = value &* 10 &+ Int64(digits[index] &- 48) }
        return Value(exactly: isNegative ? 0 &- value : value)
    }

    @inline(never) private static func longInteger<Value: FixedWidthInteger>(
        _ digits: UnsafePointer<UInt8>, _ length: Int, _ isNegative: Bool
    ) -> Value? {
        var value: Value = 0
        for index in 0..<length {
            let digit = Value(truncatingIfNeeded: digits[index] &- 48)
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (next, overflowsToo) = isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflows || overflowsToo { return nil }
            value = next
        }
        return value
    }

    /// Returns a whole number written with a fraction or exponent, such as `1.0` or `12e3`, computed exactly from its digits.
    @inline(never) static func integer<Value: FixedWidthInteger>(ofDecimal bytes: UnsafePointer<UInt8>, _ count: Int) -> Value? {
        guard let parts = JSONDecimalParts(bytes, count), parts.exponent >= 0, parts.digits.count + parts.exponent <= 40 else { return nil }
        let digits = parts.digits + [UInt8](repeating: 48, count: parts.digits.isEmpty ? 1 : parts.exponent)
        return digits.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.flatMap { longInteger($0, buffer.count, parts.isNegative && !parts.digits.isEmpty) }
        }
    }

    /// Returns the nearest `Double`; `nil` if the number is too large.
    @inline(__always) static func double(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Double? {
        if let short = JSONShortDecimal(bytes, count), short.mantissa <= 1 << 53, short.exponent >= -22, short.exponent <= 22 {
            // Both operands are exact, so the result is rounded once (Clinger's fast path).
            let mantissa = Double(Int64(truncatingIfNeeded: short.mantissa))
            let power = powersOfTen[abs(short.exponent)]
            let value = short.exponent < 0 ? mantissa / power : mantissa * power
            return short.isNegative ? -value : value
        }
        return slowDouble(bytes, count)
    }

    @inline(never) private static func slowDouble(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Double? {
        guard let value = Double(JSONStrings.string(bytes, count, isASCII: true)), value.isFinite else { return nil }
        return value
    }

    /// Returns the nearest `Float`, rounded once; `nil` if the number is too large.
    @inline(never) static func float(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Float? {
        if let short = JSONShortDecimal(bytes, count), short.mantissa <= 1 << 24, short.exponent >= -10, short.exponent <= 10 {
            let mantissa = Float(Int64(truncatingIfNeeded: short.mantissa))
            let power = Float(powersOfTen[abs(short.exponent)])
            let value = short.exponent < 0 ? mantissa / power : mantissa * power
            return short.isNegative ? -value : value
        }
        guard let value = Float(JSONStrings.string(bytes, count, isASCII: true)), value.isFinite else { return nil }
        return value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// Returns the exact number; `nil` if `Decimal` can't represent it. `Decimal` has 38 or 39 digits, trailing zeros not counted, and
    /// exponents from -128 to 127.
    @inline(never) static func decimal(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Decimal? {
        // Foundation removes trailing zeros from the digits, which increases the exponent by 18 at most.
        if let short = JSONShortDecimal(bytes, count), short.exponent >= -128, short.exponent <= 109 {
            let significand = Decimal(short.mantissa)
            guard short.exponent != 0 else { return short.isNegative ? -significand : significand }
            return Decimal(sign: short.isNegative ? .minus : .plus, exponent: short.exponent, significand: significand)
        }
        guard let parts = JSONDecimalParts(bytes, count) else { return nil }
        if parts.digits.isEmpty { return 0 }
        guard (-128...127).contains(parts.exponent), parts.digits.count <= 39 else { return nil }
        let digits = String(decoding: parts.digits, as: UTF8.self)
        // Excess digits would have been rounded into the exponent.
        guard let significand = Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")), significand.exponent == 0 else {
            return nil
        }
        return Decimal(sign: parts.isNegative ? .minus : .plus, exponent: parts.exponent, significand: significand)
    }
}

/// A number of up to 19 digits as a mantissa and an exponent of ten.
private struct JSONShortDecimal {
    var mantissa: UInt64 = 0
    var exponent = 0
    let isNegative: Bool

    @inline(__always) init?(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        var p = bytes
        let end = bytes + count
        isNegative = p.pointee == UInt8(ascii: "-")
        if isNegative { p += 1 }
        guard end - p <= 20 else { return nil }
        while p < end, p.pointee &- 48 < 10 {
            mantissa = mantissa &* 10 &+ UInt64(p.pointee &- 48)
            p += 1
        }
        var digits = p - bytes
        if p < end, p.pointee == UInt8(ascii: ".") {
            p += 1
            let start = p
            while p < end, p.pointee &- 48 < 10 {
                mantissa = mantissa &* 10 &+ UInt64(p.pointee &- 48)
                p += 1
            }
            exponent = start - p
            digits = digits &+ (p - start)
        }
        guard digits <= 19 else { return nil }
        guard p < end else { return }
        p += 1
        let isDown = p.pointee == UInt8(ascii: "-")
        if isDown || p.pointee == UInt8(ascii: "+") { p += 1 }
        guard end - p <= 4 else { return nil }
        var power = 0
        while p < end {
            power = power &* 10 &+ Int(p.pointee &- 48)
            p += 1
        }
        exponent = exponent &+ (isDown ? 0 &- power : power)
    }
}

/// A number of any length: its digits without leading and trailing zeros, and the exponent of the last digit.
struct JSONDecimalParts {
    let isNegative: Bool
    private(set) var digits: [UInt8] = []
    private(set) var exponent = 0

    /// Returns `nil` if the exponent is unusably large.
    init?(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        let text = UnsafeBufferPointer(start: bytes, count: count)
        isNegative = text.first == UInt8(ascii: "-")
        let body = text.dropFirst(isNegative ? 1 : 0)
        let mark = body.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? body.endIndex
        var fraction = 0
        var isFraction = false
        var zeros = 0
        for byte in body[..<mark] {
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            if isFraction { fraction += 1 }
            if byte == UInt8(ascii: "0") {
                zeros += 1
                continue
            }
            if !digits.isEmpty { digits.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: zeros)) }
            digits.append(byte)
            zeros = 0
        }
        if digits.isEmpty { return }
        var power = 0
        if mark < body.endIndex {
            let rest = body[(mark + 1)...]
            let isDown = rest.first == UInt8(ascii: "-")
            for byte in rest where byte &- 48 < 10 {
                guard power < 100_000_000 else { return nil }
                power = power * 10 + Int(byte - 48)
            }
            if isDown { power = -power }
        }
        exponent = power + zeros - fraction
    }
}
