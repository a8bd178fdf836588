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

/// Where a page has its entities.
enum PageShape {
    /// V4's and V3's; V2's, with `d` and without; an array by itself.
    static let paths = [["value"], ["results"], ["d", "results"], ["d", "value"], ["d"], []]

    /// Where the entities of a page are, or ought to be.
    static func path(in root: ODataValue) -> [String] {
        var path: [String] = []
        var value = root
        if let object = root.object, object["value"] == nil, object["results"] == nil, let data = object["d"] {
            path = ["d"]
            value = data
        }
        if let object = value.object { path.append(object["value"] == nil ? "results" : "value") }
        return path
    }

    /// The context that a payload says.
    static func context(of root: ODataValue) -> String? { root.object.flatMap { context(of: $0) } }

    /// The context that an object says.
    static func context(of object: DynamicEntity) -> String? {
        for name in contextNames { if let context = object[name]?.string { return context } }
        return nil
    }

    /// What contexts are called, in version 3 last.
    static let contextNames = ["@odata.context", "@context", "odata.metadata"]

    /// Whether a payload is in the shape of version 2 or of 3.
    static func isBeforeVersion4(_ root: ODataValue) -> Bool {
        guard let object = root.object else { return false }
        return object["odata.metadata"] != nil || object.properties.count == 1 && object["d"] != nil
    }
}

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

/// Which properties of an entity its decoding asked for: what is known of a type whose probe didn't tell.
final class NameRecorder {
    private(set) var names: Set<String> = []

    func note(_ name: String) { names.insert(name) }
}
