public import Foundation
import WebServiceClient

/// A page, which is read entity by entity.
protocol PagePayload {
    /// Reads a page; returns `nil` if only a tree of the whole payload shows which of two collections has the entities.
    static func read(_ data: Data, by decoder: ODataDecoder) throws -> Self?
}

extension ODataPage: PagePayload {
    static func read(_ data: Data, by decoder: ODataDecoder) throws -> ODataPage? {
        do {
            return try read(data, by: decoder, inPiecesOf: PageReader<Entity>.pieceSize)
        } catch {
            if PageShape.Ambiguity.isCause(of: error) { return nil }
            guard error.isSyntaxError else { throw error }
            // A service that fails midway can only break off its output and append the error.
            throw ODataErrorBody(inStream: data) ?? error
        }
    }

    /// Reads a page in pieces of one size. The payload is read to its end even if an entity can't be decoded: a fault of the text, or the
    /// service's own error after the entities, is a better reason.
    fileprivate static func read(_ data: Data, by decoder: ODataDecoder, inPiecesOf size: Int) throws -> ODataPage {
        let reader = PageReader<Entity>(decoder, bound: data.count)
        var entities: [Entity] = []
        var failure: (any Error)?
        var rest = data
        while true {
            while failure == nil, let result = try reader.nextResult() {
                switch result {
                case .success(let entity): entities.append(entity)
                case .failure(let error): failure = error
                }
            }
            if failure != nil { while try reader.skip() {} }
            if reader.isAtEnd { break }
            let piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            if piece.isEmpty { try reader.finish() } else { try reader.feed(piece) }
        }
        var page: ODataPage
        do {
            page = try reader.page()
        } catch  where error is ODataErrorBody || PageShape.Ambiguity.isCause(of: error) {
            throw error
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
        page.entities = entities
        return page
    }
}

@_spi(Fuzzing) extension ODataPage {
    /// Reads a page in chunks of one size, like a stream of its entities.
    public static func read(_ data: Data, inPiecesOf size: Int) throws -> ODataPage {
        try read(data, by: ODataDecoder(), inPiecesOf: max(size, 1))
    }
}

/// The location of the entities in a page.
enum PageShape {
    /// V4's and V3's; V2's, with and without `d`; an array at the root.
    static let paths = [["value"], ["results"], ["d", "results"], ["d", "value"], ["d"], []]

    /// The reason why a page can't be read entity by entity: it has two collections, and the first may not be the page's.
    struct Ambiguity: Error {
        /// Returns whether it is the cause of an error.
        static func isCause(of error: any Error) -> Bool {
            guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
            return context.underlyingError is Ambiguity
        }
    }

    /// Returns the expected location of the entities of a page.
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

    /// Returns the context of a payload.
    static func context(of root: ODataValue) -> String? { root.object.flatMap { context(of: $0) } }

    /// Returns the context of an object.
    static func context(of object: DynamicEntity) -> String? {
        for name in contextNames { if let context = object[name]?.string { return context } }
        return nil
    }

    /// The names of the context; the last is version 3's.
    static let contextNames = ["@odata.context", "@context", "odata.metadata"]

    /// Returns whether a payload has the format of version 2 or 3.
    static func isBeforeVersion4(_ root: ODataValue) -> Bool {
        guard let object = root.object else { return false }
        return object["odata.metadata"] != nil || object.count == 1 && object["d"] != nil
    }
}

/// The first and the last bytes of a payload.
struct PayloadMargins {
    private static let size = 1 << 16

    private(set) var beginning = Data()
    /// Whether ``beginning`` contains the whole payload.
    private(set) var isAll = true
    /// The last bytes, at least 64 KiB unless the payload is shorter.
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

/// Records the properties of an entity that are decoded, for types whose properties can't be determined in advance.
final class NameRecorder {
    private(set) var names: Set<String> = []

    func note(_ name: String) { names.insert(name) }
}

extension Error {
    /// Whether the error reports invalid JSON syntax.
    var isSyntaxError: Bool {
        guard case .dataCorrupted(let context) = self as? DecodingError else { return false }
        return context.underlyingError is JSONSyntaxError
    }
}
