import Foundation
import WebServiceClient

/// Reads a page from pieces of its payload, entity by entity, in whatever version's shape it comes.
///
/// In memory are a piece, or an entity if that is larger, what lies around the entities, and the payload's beginning and end: a service
/// that fails midway says there why.
final class PageReader<Entity: Decodable & Sendable> {
    private let types: TypeRegistry
    private let settings: PayloadSettings
    private let parser: JSONElementParser
    private var hasContext = false
    /// An entity that is an error if it is the last one, and the one that came behind it.
    private var suspect: ODataValue?
    private var held: JSONNode?
    /// What the payload begins and ends with.
    private(set) var margins = PayloadMargins()

    /// - Parameter bound: the bytes of the largest entity.
    init(types: TypeRegistry, bound: Int) {
        self.types = types
        settings = PayloadSettings(types: types)
        var reader = JSONReader()
        reader.dialect = PayloadDialect(settings: settings)
        let bounds = JSONStreamBounds(element: bound, surroundings: bound)
        parser = JSONElementParser(reader, anyOf: PageShape.paths, bounds: bounds)
    }

    /// The largest piece to give at once.
    static var pieceSize: Int { JSONElementParser.pieceSize }

    /// Whether the payload has been read to its end.
    var isAtEnd: Bool { parser.isAtEnd }

    /// Takes a piece, after ``next()`` has had no more entities.
    func feed(_ piece: Data) throws {
        margins.append(piece)
        try piece.withUnsafeBytes { try parser.feed($0) }
    }

    /// Says that the payload has ended, after ``next()`` has had no more entities; again, until ``isAtEnd``.
    func finish() throws { try parser.finish() }

    /// Keeps the end of a payload that isn't read any further.
    func see(_ piece: Data) { margins.append(piece) }

    /// The next entity; `nil` when more of the payload is needed, or no entity is left.
    func next() throws -> Entity? {
        try advance(node: { try $0.decode(Entity.self) }, tree: { try PayloadDecoder($0, settings: settings).decode(Entity.self) })
    }

    /// Goes past the next entity; whether there was one.
    func skip() throws -> Bool { try advance(node: { _ in true }, tree: { _ in true }) ?? false }

    private func advance<Result>(node read: (JSONNode) throws -> Result, tree: (ODataValue) throws -> Result) throws -> Result? {
        while let node = try held ?? parser.nextNode() {
            held = nil
            if !hasContext { readContext() }
            if let value = suspect {
                suspect = nil
                held = node
                return try tree(value)
            }
            guard node.isObject, node.count == 1, let value = try Self.error(in: node) else { return try read(node) }
            suspect = value
        }
        return nil
    }

    /// An object with nothing but an error in it.
    private static func error(in node: JSONNode) throws -> ODataValue? {
        guard ODataErrorBody.names.contains(where: { node.member($0) != nil }) else { return nil }
        let value = try ODataValue(node)
        return value.object.flatMap { ODataErrorBody(in: $0) } == nil ? nil : value
    }

    /// Most services say the context before the entities, whose relations may need it.
    private func readContext() {
        hasContext = true
        settings.context.url = (try? PayloadScanner.value(of: parser.knownSurroundings())).flatMap { PageShape.context(of: $0) }
    }

    /// The page without its entities, at its end.
    ///
    /// - Throws: ``ODataErrorBody`` where the service put an error behind the entities or in their place.
    func page() throws -> ODataPage<Entity> {
        if let error = suspect?.object.flatMap({ ODataErrorBody(in: $0) }) { throw error }
        let root = try PayloadScanner.value(of: parser.knownSurroundings())
        if let context = PageShape.context(of: root) { settings.context.url = context }
        let page = try ODataDecoder(types: types).decode(ODataPage<Entity>.self, from: root)
        if let path = parser.path, path != PageShape.path(in: root) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [], debugDescription: "The payload has two collections of entities, one at \(path.joined(separator: ".")).")
            )
        }
        return page
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
    static func context(of root: ODataValue) -> String? {
        root.object.flatMap { ControlInformation(entity: $0)["context"] ?? $0["odata.metadata"] }?.string
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
