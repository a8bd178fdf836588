import Foundation
import WebServiceClient

/// Reads a page from chunks of its payload, entity by entity, in the format of any version.
///
/// Only one chunk, or an entity if that is larger, the members around the entities, and the payload's beginning and end are in memory. The
/// end contains the error of a service that fails midway.
final class PageReader<Entity: Decodable & Sendable> {
    private let decoder: ODataDecoder
    private let settings: PayloadSettings
    private let parser: JSONElementParser
    private var hasContext = false
    /// An entity that is an error if it is the last element, and the element after it.
    private var suspect: ODataValue?
    private var held: JSONNode?
    /// The beginning and the end of the payload.
    private(set) var margins = PayloadMargins()

    /// - Parameters:
    ///   - decoder: The decoder of the entities.
    ///   - bound: The maximum size of an entity in bytes.
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

    /// - Parameter bound: The maximum size of an entity in bytes.
    convenience init(types: TypeRegistry, userInfo: [CodingUserInfoKey: any Sendable] = [:], bound: Int) {
        self.init(ODataDecoder(types: types, userInfo: userInfo), bound: bound)
    }

    /// The maximum size of a chunk.
    static var pieceSize: Int { JSONElementParser.pieceSize }

    /// Whether the payload has been read to its end.
    var isAtEnd: Bool { parser.isAtEnd }

    /// Adds a chunk, after ``next()`` has returned `nil`.
    func feed(_ piece: Data) throws {
        margins.append(piece)
        try piece.withUnsafeBytes { try parser.feed($0) }
    }

    /// Ends the payload, after ``next()`` has returned `nil`. Call it repeatedly until ``isAtEnd``.
    func finish() throws { try parser.finish() }

    /// Keeps the end of a payload that isn't parsed any further.
    func see(_ piece: Data) { margins.append(piece) }

    /// Returns the next entity, or `nil` if more of the payload is needed or no entity is left.
    func next() throws -> Entity? {
        try advance(node: { try $0.decode(Entity.self) }, tree: { try PayloadDecoder($0, settings: settings).decode(Entity.self) })
    }

    /// Returns the next entity or the error of decoding it, after which the page can be read further; `nil` as ``next()`` does.
    ///
    /// - Throws: The error of a text that can't be read further.
    func nextResult() throws -> Result<Entity, any Error>? {
        try advance(
            node: { node in Result { try node.decode(Entity.self) } },
            tree: { value in Result { try PayloadDecoder(value, settings: settings).decode(Entity.self) } })
    }

    /// Skips the next entity; returns whether there was one.
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
            guard node.isObject, node.count == 1, let value = try error(in: node) else { return try read(node) }
            suspect = value
        }
        return nil
    }

    /// Returns an object that contains only an error.
    private func error(in node: JSONNode) throws -> ODataValue? {
        guard ODataErrorBody.names.contains(where: { node.member($0) != nil }) else { return nil }
        let value = try settings.tree(node)
        return value.object.flatMap { ODataErrorBody(in: $0) } == nil ? nil : value
    }

    /// Reads the context before the entities, where most services send it and relations may need it.
    private func readContext() {
        hasContext = true
        if parser.path?.first == "d" { settings.context.isBeforeVersion4 = true }
        guard let known = try? ODataValue(json: parser.knownSurroundings()) else { return }
        settings.context.text = PageShape.context(of: known)
        if PageShape.isBeforeVersion4(known) { settings.context.isBeforeVersion4 = true }
    }

    /// Returns the page without its entities, once it is fully read.
    ///
    /// - Throws: ``ODataErrorBody`` if the service sent an error after the entities or in their place; `DecodingError`, with the cause
    ///   ``PageShape/Ambiguity`` if there are two collections.
    func page() throws -> ODataPage<Entity> {
        if let error = suspect?.object.flatMap({ ODataErrorBody(in: $0) }) { throw error }
        let root = try ODataValue(json: parser.knownSurroundings())
        if let context = PageShape.context(of: root) { settings.context.text = context }
        let page = try decoder.decode(ODataPage<Entity>.self, from: root)
        if let path = parser.path, path != PageShape.path(in: root) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [], debugDescription: "The payload has two collections of entities, one at \(path.joined(separator: ".")).",
                    underlyingError: PageShape.Ambiguity()))
        }
        return page
    }
}
