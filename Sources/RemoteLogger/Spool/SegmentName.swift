/// The name of a segment's file, `<epoch>-<number>.segment` in hexadecimal: the run that wrote it, and its place in that run. Their order
/// is the order of the records.
package struct SegmentName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The run: higher than that of every segment which was there when the run began.
    package let epoch: UInt64
    /// The segment's place in its run, from 1.
    package let number: UInt64

    private static let suffix = ".segment"

    package init(epoch: UInt64, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// The segment of a file; `nil` when the file isn't one.
    package init?(_ file: String) {
        guard file.hasSuffix(Self.suffix) else { return nil }
        let parts = file.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let number = UInt64(parts[1], radix: 16) else { return nil }
        self.init(epoch: epoch, number: number)
        guard description == file else { return nil }
    }

    package var description: String {
        var text = JSONText()
        text.hexadecimal(epoch)
        text.byte("-")
        text.hexadecimal(number)
        return text.string + Self.suffix
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.epoch, left.number) < (right.epoch, right.number)
    }
}
