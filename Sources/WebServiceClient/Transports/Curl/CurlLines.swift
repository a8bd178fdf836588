import CSystemLibraries
import Foundation

/// Header lines as libcurl takes them: a linked list, built in one block of memory, which it only reads, also for several transports at once.
/// (Before 7.64.1, which is too old here, it wrote into lines without a value.)
///
/// `@unchecked Sendable`: written once, before anybody else has it.
final class CurlLines: @unchecked Sendable {
    /// The lines before they become a list: their bytes, one behind the other, each with a NUL at its end.
    struct Text {
        fileprivate var bytes: [UInt8] = []
        fileprivate var count = 0

        /// Whether there are none.
        var isEmpty: Bool { count == 0 }

        /// Adds a field. libcurl takes an empty value by a semicolon.
        mutating func append(_ field: HTTPFields.Field) {
            guard field.isLatin1 else { return append(field.name, field.value) }
            begin(field.name)
            bytes.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")] + field.bytes)
            end()
        }

        /// Adds a field of a name and a value.
        mutating func append(_ name: HTTPFields.Name, _ value: String) {
            begin(name)
            // A line with nothing but blanks behind the colon would take the field out.
            if HTTPFields.Field.isBlank(value) {
                bytes.append(UInt8(ascii: ";"))
            } else {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(UInt8(ascii: " "))
                bytes.append(contentsOf: value.utf8)
            }
            end()
        }

        /// Adds the name by itself, with a colon: libcurl then leaves out the field that it would write by itself.
        mutating func omit(_ name: HTTPFields.Name) {
            begin(name)
            bytes.append(UInt8(ascii: ":"))
            end()
        }

        private mutating func begin(_ name: HTTPFields.Name) {
            // Most requests fit.
            if isEmpty { bytes.reserveCapacity(400) }
            bytes.append(contentsOf: name.rawName.utf8)
        }

        private mutating func end() {
            bytes.append(0)
            count += 1
        }
    }

    private let block: UnsafeMutableRawPointer?

    /// The first line; `nil` when there are none.
    let first: UnsafeMutablePointer<csl_line>?

    /// The list of those lines.
    ///
    /// - Throws: ``TransportError`` when there is no memory for it.
    init(_ lines: Text) throws(TransportError) {
        guard !lines.isEmpty else {
            (block, first) = (nil, nil)
            return
        }
        let count = lines.count
        let nodes = count * MemoryLayout<csl_line>.stride
        // `allocate` asks for an alignment that every block has, by a call that costs several times as much.
        guard let block = malloc(nodes + lines.bytes.count) else {
            throw TransportError(.other, "There is no memory for the header fields of a request.")
        }
        let list = block.bindMemory(to: csl_line.self, capacity: count)
        lines.bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { (block + nodes).copyMemory(from: start, byteCount: bytes.count) }
        }
        var text = (block + nodes).assumingMemoryBound(to: CChar.self)
        for index in 0..<count {
            let next = index + 1 < count ? list + index + 1 : nil
            (list + index).initialize(to: csl_line(text: text, next: next))
            text += strlen(text) + 1
        }
        self.block = block
        first = list
    }

    /// The lines, read back from the list.
    var texts: [String] {
        var texts: [String] = []
        var line = first
        while let current = line {
            texts.append(String(cString: current.pointee.text))
            line = current.pointee.next
        }
        return texts
    }

    deinit {
        free(block)
    }
}
