/// What a value in a JSON text is, as the scanner has found it. Four bits of a word on the tape.
enum JSONKind: UInt8, CaseIterable {
    case null, `false`, `true`
    /// A number without fraction and exponent.
    case integer
    /// Any other number.
    case number
    /// A text in ASCII without escapes, one without escapes, and one with escapes, all checked.
    case ascii, text, escaped
    /// A name that had escapes: its bytes lie unescaped in the store of names.
    case unescapedName
    case array, object

    /// What to call it in an error.
    var name: String {
        switch self {
        case .null: "null"
        case .false, .true: "a Boolean"
        case .integer, .number: "a number"
        case .ascii, .text, .escaped, .unescapedName: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
