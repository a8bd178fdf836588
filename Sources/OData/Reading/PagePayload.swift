public import Foundation

/// Pages, which are read entity by entity.
protocol PagePayload {
    static func read(_ data: Data, by decoder: ODataDecoder) throws -> Self
}

extension ODataPage: PagePayload {
    static func read(_ data: Data, by decoder: ODataDecoder) throws -> ODataPage {
        try read(data, by: decoder, inPiecesOf: PageReader<Entity>.pieceSize)
    }

    fileprivate static func read(_ data: Data, by decoder: ODataDecoder, inPiecesOf size: Int) throws -> ODataPage {
        let reader = PageReader<Entity>(decoder, bound: data.count)
        var entities: [Entity] = []
        var rest = data
        while true {
            while let entity = try reader.next() { entities.append(entity) }
            if reader.isAtEnd { break }
            let piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            if piece.isEmpty { try reader.finish() } else { try reader.feed(piece) }
        }
        var page = try reader.page()
        page.entities = entities
        return page
    }
}

@_spi(Fuzzing) extension ODataPage {
    /// The page that pieces of one size hold: what a stream of its entities does, without waiting for anything.
    public static func read(_ data: Data, inPiecesOf size: Int) throws -> ODataPage {
        try read(data, by: ODataDecoder(), inPiecesOf: max(size, 1))
    }
}
