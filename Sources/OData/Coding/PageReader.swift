import Foundation
import WebServiceClient

/// Reads a page from pieces of its payload, entity by entity, in whatever version's shape it comes.
///
/// In memory are a piece, or an entity if that is larger, what lies around the entities, and the payload's beginning and end: a service
/// that fails midway says there why.
final class PageReader<Entity: Decodable & Sendable> {
    private let decoder: ODataDecoder
    private let settings: PayloadSettings
    private let parser: JSONElementParser
    private var hasContext = false
    /// An entity that is an error if it is the last one, and the one that came behind it.
    private var suspect: ODataValue?
    private var held: JSONNode?
    /// What the payload begins and ends with.
    private(set) var margins = PayloadMargins()

    /// - Parameters:
    ///   - decoder: what decodes the entities.
    ///   - bound: the bytes of the largest entity.
    init(_ decoder: ODataDecoder, bound: Int) {
        self.decoder = decoder
        let context = ContextURL(nil, page: decoder.url, isBeforeVersion4: decoder.version == .v2, mayCome: true)
        settings = PayloadSettings(types: decoder.types, context: context, userInfo: decoder.userInfo)
        var reader = JSONReader()
        reader.userInfo = decoder.userInfo
        reader.dialect = PayloadDialect(settings: settings)
        let bounds = JSONStreamBounds(element: bound, surroundings: bound)
        parser = JSONElementParser(reader, anyOf: PageShape.paths, bounds: bounds)
    }

    /// - Parameter bound: the bytes of the largest entity.
    convenience init(types: TypeRegistry, userInfo: [CodingUserInfoKey: any Sendable] = [:], bound: Int) {
        self.init(ODataDecoder(types: types, userInfo: userInfo), bound: bound)
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
        if parser.path?.first == "d" { settings.context.isBeforeVersion4 = true }
        guard let known = try? PayloadScanner.value(of: parser.knownSurroundings()) else { return }
        settings.context.text = PageShape.context(of: known)
        if PageShape.isBeforeVersion4(known) { settings.context.isBeforeVersion4 = true }
    }

    /// The page without its entities, at its end.
    ///
    /// - Throws: ``ODataErrorBody`` where the service put an error behind the entities or in their place.
    func page() throws -> ODataPage<Entity> {
        if let error = suspect?.object.flatMap({ ODataErrorBody(in: $0) }) { throw error }
        let root = try PayloadScanner.value(of: parser.knownSurroundings())
        if let context = PageShape.context(of: root) { settings.context.text = context }
        let page = try decoder.decode(ODataPage<Entity>.self, from: root)
        if let path = parser.path, path != PageShape.path(in: root) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [], debugDescription: "The payload has two collections of entities, one at \(path.joined(separator: ".")).")
            )
        }
        return page
    }
}
