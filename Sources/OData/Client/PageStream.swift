import Foundation
import WebServiceClient

/// A page being received: its entities one by one and, at its end, its metadata.
///
/// A class, because a value would be copied for every entity when it is passed from call to call.
final class PageStream<Entity: Decodable & Sendable> {
    private let source: PageSource
    private let reader: PageReader<Entity>
    private var chunks: ResponseBody.Iterator
    private var chunk = Data()
    private var hasBegun = false
    private var isLastChunk = false
    /// A Boolean value that indicates whether the text was transcoded, so that the declared charset no longer applies.
    private var isTranscoded = false

    init(_ source: PageSource) {
        self.source = source
        reader = PageReader(source.decoder, bound: source.errors.bodyLimit)
        chunks = source.response.value.makeAsyncIterator()
    }

    /// The page's URL, the base of its relative links.
    var url: URL { source.decoder.url ?? source.response.url }

    /// Returns the next entity, or `nil` after the last one, when the whole page is received.
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

    /// Reads to the end of the page, skipping its entities.
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

    /// Returns the page without its entities, once it is fully read.
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

    /// Receives enough bytes to detect the charset. A payload that isn't in UTF-8 is received as a whole.
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

    /// Returns the error for a page that can't be read.
    private func failure(_ error: any Error) async -> any Error {
        var reason = error
        if error.isSyntaxError {
            // A service that fails midway can only break off its output and append the error.
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
