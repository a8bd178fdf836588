extension UInt8 {
    /// In lower case, if it is an ASCII letter.
    var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
    var isDigit: Bool { self &- 0x30 < 10 }
    var isUppercase: Bool { self >= 0x41 && self <= 0x5A }
    var isLowercase: Bool { self >= 0x61 && self <= 0x7A }
    var isAlphanumeric: Bool { isDigit || (self | 0x20) &- 0x61 < 26 }
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") || self == UInt8(ascii: "`") }
    var isLineEnd: Bool { self == 0x0A || self == 0x0D }
    /// The value of a hexadecimal digit.
    var hexadecimal: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
