extension SecretScanner {
    /// The content of a block scalar of YAML (YAML 1.2.2 §8.1): behind `password: |` the lines below that are indented.
    ///
    /// - Parameter name: the name that the scalar is the value of.
    /// - Returns: the lines, without the indentation of the first; `nil` if no such scalar begins there.
    func blockScalar(behind separator: Int, of name: Range<Int>) -> Range<Int>? {
        guard bytes[separator] == UInt8(ascii: ":"), var line = endOfBlockHeader(behind: separator) else { return nil }
        let indentation = column(of: name.lowerBound)
        var content: Range<Int>?
        while line < bytes.count {
            let start = end(from: line, to: bytes.count, while: \.isBlank)
            let end = end(from: start, to: bytes.count) { !$0.isLineEnd }
            if start < end {
                guard start - line > indentation else { break }
                content = (content?.lowerBound ?? start)..<end
            }
            line = end + 1
        }
        return content
    }

    /// The end of `|` or `>`, what may stand before it (a tag, an anchor) and behind it (indentation, chomping, a comment); `nil` if there is more on
    /// the line, or less.
    private func endOfBlockHeader(behind separator: Int) -> Int? {
        let limit = min(bytes.count, separator + Self.reach)
        var index = end(from: separator + 1, to: limit, while: \.isBlank)
        while index < limit, bytes[index] == UInt8(ascii: "!") || bytes[index] == UInt8(ascii: "&") {
            index = end(from: index, to: limit) { !$0.isBlank && !$0.isLineEnd }
            index = end(from: index, to: limit, while: \.isBlank)
        }
        guard index < limit, bytes[index] == UInt8(ascii: "|") || bytes[index] == UInt8(ascii: ">") else { return nil }
        index = end(from: index + 1, to: min(limit, index + 3)) { $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        index = end(from: index, to: limit, while: \.isBlank)
        if index < limit, bytes[index] == UInt8(ascii: "#") { index = end(from: index, to: limit) { !$0.isLineEnd } }
        guard index < limit, bytes[index].isLineEnd else { return nil }
        return index + 1
    }

    /// How far what stands in a line is indented, the dashes of sequences included; 0 where the line doesn't begin nearby.
    private func column(of place: Int) -> Int {
        let limit = max(0, place - Self.reach)
        var start = place
        while start > limit, !bytes[start - 1].isLineEnd { start -= 1 }
        guard start == 0 || bytes[start - 1].isLineEnd else { return 0 }
        return end(from: start, to: place) { $0.isBlank || $0 == UInt8(ascii: "-") } - start
    }

    private func end(from start: Int, to limit: Int, while isMeant: (UInt8) -> Bool) -> Int {
        var index = start
        while index < limit, isMeant(bytes[index]) { index += 1 }
        return index
    }
}
