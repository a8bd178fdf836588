import Foundation

/// Scans a payload that arrives in pieces for an array: the first one at one of several paths.
///
/// The text before it is followed but not checked; the parser checks all text around the array at the end.
struct JSONPathFinder {
    private enum Expectation {
        /// The value to which the trail has led.
        case value
        case nameOrEnd
        case name(isEscaped: Bool)
        case colon
        case elementOrEnd
        /// A value outside all paths: not yet begun, or partly read.
        case other, rest(JSONValueEnd)
        /// Nothing more to find: the array has begun, or there is none.
        case nothing
    }

    private let paths: [[String]]
    /// The names and indices followed so far, a prefix of one of the paths; once the array has begun, its path.
    private(set) var trail: [String] = []
    /// The closing brackets of the containers on the trail, the innermost first.
    private(set) var closers: [UInt8] = []
    private var expectation = Expectation.value
    /// The name that is being read, with its quotation marks.
    private var name: [UInt8] = []
    /// The indices of the next elements in the containers on the trail, the innermost last.
    private var elements: [Int] = []

    init(paths: [[String]]) { self.paths = paths }

    /// Scans more bytes.
    ///
    /// - Returns: The number of these bytes through the array's opening bracket, if they contain it; otherwise `nil`.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch expectation {
            case .nothing:
                return nil
            case .rest(var end):
                let length = end.feed(UnsafeBufferPointer(rebasing: bytes[index...]))
                expectation = length == nil ? .rest(end) : afterValue
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
                if byte == UInt8(ascii: "["), paths.contains(trail) {
                    expectation = .nothing
                    return index + 1
                }
                guard enter(byte) else { continue }
            case .nameOrEnd:
                if byte == UInt8(ascii: "\"") {
                    name = [byte]
                    expectation = .name(isEscaped: false)
                } else if byte == UInt8(ascii: "}") {
                    leave()
                } else if byte != UInt8(ascii: ",") {
                    expectation = .nothing
                }
            case .colon:
                expectation = byte != UInt8(ascii: ":") ? .nothing : follow(where: isName(quoted: name)) ? .value : .other
            case .elementOrEnd:
                if byte == UInt8(ascii: ",") { break }
                if byte == UInt8(ascii: "]") {
                    leave()
                    break
                }
                let number = elements.last ?? 0
                if !elements.isEmpty { elements[elements.count - 1] += 1 }
                // A brace isn't an element.
                expectation = byte == UInt8(ascii: "}") ? .nothing : follow { Int($0) == number } ? .value : .other
                continue
            case .other:
                expectation = .rest(JSONValueEnd())
                continue
            }
            index += 1
        }
        return nil
    }

    /// The expectation after a value of a container on the trail.
    private var afterValue: Expectation { closers.first == UInt8(ascii: "]") ? .elementOrEnd : .nameOrEnd }

    /// Enters the container at the trail's end, if one of the paths continues there.
    private mutating func enter(_ byte: UInt8) -> Bool {
        let isContainer = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
        guard isContainer, paths.contains(where: { $0.count > trail.count && $0.starts(with: trail) }) else {
            expectation = trail.popLast() == nil ? .nothing : .other
            return false
        }
        elements.append(0)
        closers.insert(byte + 2, at: 0)
        expectation = afterValue
        return true
    }

    /// Leaves the innermost container.
    private mutating func leave() {
        closers.removeFirst()
        elements.removeLast()
        expectation = trail.popLast() == nil ? .nothing : afterValue
    }

    /// Appends the matching next step of a path to the trail; returns `false` if there is none.
    private mutating func follow(where isStep: (String) -> Bool) -> Bool {
        let step = paths.lazy.filter { [trail] in $0.count > trail.count && $0.starts(with: trail) }.map { [trail] in $0[trail.count] }
            .first(where: isStep)
        guard let step else { return false }
        trail.append(step)
        return true
    }

    /// Whether a text is the name between quotation marks, which may have escapes.
    private func isName(quoted bytes: [UInt8]) -> (String) -> Bool {
        var text = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
        if bytes.contains(UInt8(ascii: "\\")) { text = (try? JSONReader().decode(String.self, utf8: Data(bytes), at: [])) ?? text }
        return { $0 == text }
    }
}
