import Foundation

/// The first and the last bytes of a payload.
struct PayloadMargins {
    private static let size = 1 << 16

    private(set) var beginning = Data()
    /// Whether these are all that came.
    private(set) var isAll = true
    /// The last bytes, at least 64 KiB where there are so many.
    private(set) var end = Data()

    mutating func append(_ piece: Data) {
        isAll = isAll && beginning.count + piece.count <= Self.size
        if beginning.count < Self.size { beginning.append(piece.prefix(Self.size - beginning.count)) }
        if piece.count >= Self.size {
            end = Data(piece.suffix(Self.size))
            return
        }
        end.append(piece)
        if end.count > 3 * Self.size { end = Data(end.suffix(Self.size)) }
    }
}
