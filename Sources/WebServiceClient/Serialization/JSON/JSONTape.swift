/// A word of the tape, to which the scanner writes its results in text order.
///
/// A simple value is one word: the kind, length and offset of its bytes in the text. A member of an object is the word of its name
/// followed by its value. A container begins with a head of three words, or four for objects, followed by its elements or members:
///
///     kind, 0, offset of its bracket
///     number of elements, index of the word after its last one
///     index of the container around it (-1 for none), position in it if that is an array
///     objects only: index of the last name found (0 for none), index of the name at which a search begins
///
/// All indices and offsets have 31 bits: ``JSONReader/largestSize`` bounds the text so that they suffice, on 32-bit platforms too.
struct JSONWord {
    let bits: UInt64

    static let arrayHead = 3
    static let objectHead = 4
    /// The maximum size of a string, number or name in bytes, limited by 28 bits.
    static let longestLength = 1 << 28 - 1

    @inline(__always) init(bits: UInt64) { self.bits = bits }

    @inline(__always) init(_ kind: JSONKind, offset: Int, length: Int) {
        bits = UInt64(truncatingIfNeeded: offset) &<< 32 | UInt64(truncatingIfNeeded: length) &<< 4 | UInt64(kind.rawValue)
    }

    /// Two halves; the high one is signed.
    @inline(__always) init(_ high: Int, _ low: Int) {
        bits = UInt64(UInt32(truncatingIfNeeded: high)) &<< 32 | UInt64(UInt32(truncatingIfNeeded: low))
    }

    /// These bits always contain a valid kind, and an enumeration with raw values counted from 0 has these values as its memory.
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

/// The kind of a value in a JSON text: four bits of a word on the tape.
enum JSONKind: UInt8, CaseIterable {
    case null, `false`, `true`
    /// A number without fraction and exponent.
    case integer
    /// Any other number.
    case number
    /// A checked string: in ASCII without escapes, without escapes, or with escapes.
    case ascii, text, escaped
    /// A name that had escapes; its unescaped bytes are in the name store.
    case unescapedName
    case array, object

    /// The kind's name in an error.
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

/// The place of a value: its index on the tape, the index of its container (-1 for none), and its number in an array.
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
