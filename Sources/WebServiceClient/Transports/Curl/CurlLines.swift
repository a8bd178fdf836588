import CSystemLibraries

/// Header lines as libcurl takes them: a linked list, built in one block of memory, which it only reads.
///
/// `@unchecked Sendable`: written once, before anybody else has it.
final class CurlLines: @unchecked Sendable {
    private let block: UnsafeMutableRawPointer?

    /// The first line; `nil` when there are none.
    let first: UnsafeMutablePointer<csl_line>?

    init(_ lines: [String]) {
        guard !lines.isEmpty else {
            (block, first) = (nil, nil)
            return
        }
        let nodes = lines.count * MemoryLayout<csl_line>.stride
        let text = lines.reduce(0) { $0 + $1.utf8.count + 1 }
        let block = UnsafeMutableRawPointer.allocate(byteCount: nodes + text, alignment: MemoryLayout<csl_line>.alignment)
        let list = block.bindMemory(to: csl_line.self, capacity: lines.count)
        var position = block + nodes
        for (index, line) in lines.enumerated() {
            let start = position.assumingMemoryBound(to: CChar.self)
            var line = line
            let count = line.withUTF8 { bytes in
                if let start = bytes.baseAddress { position.copyMemory(from: start, byteCount: bytes.count) }
                return bytes.count
            }
            position.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
            position += count + 1
            let next = index + 1 < lines.count ? list + index + 1 : nil
            (list + index).initialize(to: csl_line(text: start, next: next))
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
        block?.deallocate()
    }
}
