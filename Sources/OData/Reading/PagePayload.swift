import Foundation

/// Pages, which are read entity by entity.
protocol PagePayload {
    static func read(_ data: Data, types: TypeRegistry) throws -> Self
}

extension ODataPage: PagePayload {
    static func read(_ data: Data, types: TypeRegistry) throws -> ODataPage {
        let reader = PageReader<Entity>(types: types, bound: data.count)
        var entities: [Entity] = []
        var rest = data
        while true {
            while let entity = try reader.next() { entities.append(entity) }
            if reader.isAtEnd { break }
            let piece = rest.prefix(PageReader<Entity>.pieceSize)
            rest = rest.dropFirst(piece.count)
            if piece.isEmpty { try reader.finish() } else { try reader.feed(piece) }
        }
        var page = try reader.page()
        page.entities = entities
        return page
    }
}
