import Foundation
import WebServiceClient

/// A page that is being received: its entities one after the other, and at its end what the page says of itself.
///
/// A class, since it is handed from call to call while it is read: a value would be copied for every entity.
final class PageStream<Entity: Decodable & Sendable> {
    private let source: PageSource
    private let reader: PageReader<Entity>
    private var chunks: ResponseBody.Iterator
    private var chunk = Data()
    private var hasBegun = false
    private var isLastChunk = false
    /// Whether what is read isn't what came, and the charset that the service named is no longer that of the text.
    private var isTranscoded = false

    init(_ source: PageSource) {
        self.source = source
        reader = PageReader(source.decoder, bound: source.errors.bodyLimit)
        chunks = source.response.value.makeAsyncIterator()
    }

    /// Where the page came from, which relative links begin at.
    var url: URL { source.decoder.url ?? source.response.url }

    /// The next entity; `nil` behind the last one, when all of the page has come.
    func next() async throws -> Entity? {
        while true {
            do {
                if let entity = try reader.next() { return entity }
            } catch {
                throw await failure(error)
            }
            if reader.isAtEnd { return nil }
            try await feed()
        }
    }

    /// Reads to the end of the page without its entities.
    func skipRest() async throws {
        while true {
            do {
                while try reader.skip() {}
            } catch {
                throw await failure(error)
            }
            if reader.isAtEnd { return }
            try await feed()
        }
    }

    /// The page without its entities, at its end.
    func page() async throws -> ODataPage<Entity> {
        do {
            let page = try reader.page()
            try source.checkEnd()
            return page
        } catch {
            throw await failure(error)
        }
    }

    private func feed() async throws {
        if chunk.isEmpty, !isLastChunk { try await receive() }
        let piece = chunk.prefix(PageReader<Entity>.pieceSize)
        chunk = chunk.dropFirst(piece.count)
        do {
            if !piece.isEmpty {
                try reader.feed(piece)
            } else if isLastChunk {
                try reader.finish()
            }
        } catch {
            throw await failure(error)
        }
    }

    private func receive() async throws {
        do {
            guard hasBegun else { return try await begin() }
            let next = try await chunks.next()
            chunk = next ?? Data()
            isLastChunk = next == nil
        } catch let error as SerializationError {
            throw await failure(error)
        } catch {
            throw source.errors.receiving(error)
        }
    }

    /// Takes as much as tells the charset; a payload that isn't in UTF-8 has to be read as a whole.
    private func begin() async throws {
        hasBegun = true
        var beginning = Data()
        while beginning.count < 4, let next = try await chunks.next() { beginning.append(next) }
        let contentType = source.response.headers[.contentType]
        if !TextEncoding.isUTF8(beginning: beginning, contentType: contentType) {
            while let next = try await chunks.next() {
                guard beginning.count + next.count <= source.errors.bodyLimit else {
                    throw ResponseBodyTooLarge(limit: source.errors.bodyLimit)
                }
                beginning.append(next)
            }
            beginning = try TextEncoding.utf8(from: beginning, contentType: contentType)
            isTranscoded = true
        }
        chunk = beginning
        isLastChunk = beginning.isEmpty
    }

    /// The error that a call throws whose page is wrong.
    private func failure(_ error: any Error) async -> any Error {
        var reason = error
        if PageSource.isSyntaxError(error) {
            // A service that fails midway can only break off, and says why at the end.
            reader.see(chunk)
            var rest = source.errors.bodyLimit
            while rest > 0, !isLastChunk {
                let next = try? await chunks.next()
                reader.see(next ?? Data())
                rest -= next?.count ?? 0
                isLastChunk = next == nil
            }
            reason = ODataErrorBody(inStream: reader.margins.end) ?? error
        }
        source.response.value.cancel()
        return ODataClient.withErrorBody(
            source.errors.reading(
                ODataPage<Entity>.self, from: reader.margins.beginning, isAll: reader.margins.isAll && isLastChunk && !isTranscoded, reason)
        )
    }
}
