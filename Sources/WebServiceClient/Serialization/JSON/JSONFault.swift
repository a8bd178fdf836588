/// Where and why a text is no JSON. Small, since the scanner throws it; ``JSONSyntaxError`` is what callers see.
struct JSONFault: Error {
    enum Reason: Error {
        case truncated, empty
        case value, afterValue, afterElement, afterMember, name, colon, trailing
        case trailingComma
        case literal, number, exponent, fraction
        case controlCharacter, escape, hexDigits, surrogate, encoding
        case duplicate
        case depth, length, size
    }

    let reason: Reason
    let offset: Int
}
