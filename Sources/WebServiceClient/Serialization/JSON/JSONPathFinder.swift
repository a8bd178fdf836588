import Foundation

/// Finds the array at a root inside a payload that comes in pieces, byte by byte.
///
/// What comes before is only followed, not checked: the parser checks all that lies around the array at the end.
struct JSONPathFinder {
    private enum Expectation {
        /// The value to which the names so far have led.
        case value
        case nameOrEnd
        case name(isEscaped: Bool)
        case colon
        case elementOrEnd
        /// A value that lies beside the path, before its first byte and from there on.
        case other, rest(JSONValueEnd)
        /// There is no such root, or no array at it: all is to be read as what lies around.
        case nothing
    }

    private let path: [String]
    /// How many names have been followed.
    private var depth = 0
    /// What closes the containers in which the array is, the innermost first.
    private(set) var closers: [UInt8] = []
    private var expectation = Expectation.value
    /// The name that is being read, with its quotation marks.
    private var name: [UInt8] = []
    /// The number of the next element, where the path goes through an array.
    private var element = 0

    init(path: [String]) { self.path = path }

    /// Looks at more bytes.
    ///
    /// - Returns: how many of them come before the array's first element, once the array has begun.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch expectation {
            case .nothing:
                return nil
            case .rest(var end):
                let length = end.feed(UnsafeBufferPointer(rebasing: bytes[index...]))
                expectation = length == nil ? .rest(end) : closers.first == UInt8(ascii: "]") ? .elementOrEnd : .nameOrEnd
                index += length ?? bytes.count
                continue
            case .name(let isEscaped):
                name.append(byte)
                if isEscaped || byte == UInt8(ascii: "\\") {
                    expectation = .name(isEscaped: !isEscaped)
                } else if byte == UInt8(ascii: "\"") {
                    expectation = .colon
                }
            case _ where byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09:
                break
            case .value:
                if depth == path.count {
                    expectation = .nothing
                    if byte == UInt8(ascii: "[") { return index + 1 }
                }
                enter(byte)
            case .nameOrEnd:
                if byte == UInt8(ascii: "\"") {
                    name = [byte]
                    expectation = .name(isEscaped: false)
                } else if byte != UInt8(ascii: ",") {
                    expectation = .nothing
                }
            case .colon:
                expectation = byte != UInt8(ascii: ":") ? .nothing : leads(String(decoding: name, as: UTF8.self)) ? .value : .other
            case .elementOrEnd:
                if byte == UInt8(ascii: ",") { break }
                let leads = Int(path[depth - 1]) == element
                element += 1
                // A brace is no end of an array either, and no element.
                let isEnd = byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
                expectation = isEnd ? .nothing : leads ? .value : .other
                continue
            case .other:
                expectation = .rest(JSONValueEnd())
                continue
            }
            index += 1
        }
        return nil
    }

    /// Goes into a container on the path.
    private mutating func enter(_ byte: UInt8) {
        guard depth < path.count, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") else {
            expectation = .nothing
            return
        }
        depth += 1
        element = 0
        closers.insert(byte + 2, at: 0)
        expectation = byte == UInt8(ascii: "{") ? .nameOrEnd : .elementOrEnd
    }

    /// Whether a name, which may have escapes, is the one that leads on.
    private func leads(_ quoted: String) -> Bool {
        if quoted == "\"" + path[depth - 1] + "\"" { return true }
        return quoted.utf8.contains(UInt8(ascii: "\\"))
            && (try? JSONReader().decode(String.self, utf8: Data(quoted.utf8), at: [])) == path[depth - 1]
    }
}
