/// A word of the tape on which the scanner writes what it finds, in the order of the text.
///
/// A simple value is one word: kind, length and offset of its bytes in the text. A member of an object is the word of its name and then
/// its value. A container begins with a head of three words, or four for objects, and its elements or members follow:
///
///     kind, 0, offset of its bracket
///     number of elements, index of the word after its last one
///     index of the container around it (-1 for none), position in it where that is an array
///     objects only: index of the name at which a search begins
///
/// All indices and offsets have 31 bits: ``JSONReader/largestSize`` bounds the text so that they suffice, on 32-bit platforms too.
struct JSONWord {
    let bits: UInt64

    static let arrayHead = 3
    static let objectHead = 4
    /// The most bytes of one string, number, or name: what 28 bits can say.
    static let longestLength = 1 << 28 - 1

    @inline(__always) init(bits: UInt64) { self.bits = bits }

    @inline(__always) init(_ kind: JSONKind, offset: Int, length: Int) {
        bits = UInt64(truncatingIfNeeded: offset) &<< 32 | UInt64(truncatingIfNeeded: length) &<< 4 | UInt64(kind.rawValue)
    }

    /// Two halves: the high one signed.
    @inline(__always) init(_ high: Int, _ low: Int) {
        bits = UInt64(UInt32(truncatingIfNeeded: high)) &<< 32 | UInt64(UInt32(truncatingIfNeeded: low))
    }

    /// Only kinds are ever written in these bits, and the raw values of an enumeration that counts them from 0 are its memory.
    @inline(__always) var kind: JSONKind { unsafeBitCast(UInt8(truncatingIfNeeded: bits & 15), to: JSONKind.self) }
    @inline(__always) var isContainer: Bool { bits & 15 >= 9 }
    @inline(__always) var length: Int { Int(truncatingIfNeeded: (bits &>> 4) & 0xFFF_FFFF) }
    @inline(__always) var offset: Int { Int(truncatingIfNeeded: bits &>> 32) }

    @inline(__always) var high: Int { Int(Int32(truncatingIfNeeded: bits &>> 32)) }
    @inline(__always) var low: Int { Int(Int32(truncatingIfNeeded: bits)) }

    /// The index of the word after a value.
    @inline(__always) static func end(ofValueAt index: Int, _ tape: UnsafeMutablePointer<UInt64>) -> Int {
        JSONWord(bits: tape[index]).isContainer ? JSONWord(bits: tape[index &+ 1]).low : index &+ 1
    }
}

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

/// Where a value is: its index on the tape, the index of the container around it (-1 for none), and its number in that, for arrays.
struct JSONPlace {
    let node: Int32
    let container: Int32
    let number: Int32

    @inline(__always) init(node: Int, container: Int, number: Int = 0) {
        self.node = Int32(truncatingIfNeeded: node)
        self.container = Int32(truncatingIfNeeded: container)
        self.number = Int32(truncatingIfNeeded: number)
    }

    /// The root of a document.
    static let root = JSONPlace(node: 0, container: -1)

    @inline(__always) var index: Int { Int(node) }
    @inline(__always) var parent: Int { Int(container) }
}
