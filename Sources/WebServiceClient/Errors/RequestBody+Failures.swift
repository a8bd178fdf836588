import Foundation

extension RequestBody {
    /// The same body, whose stream's errors come as ``RequestBodyError`` with what was thrown underneath, so that nobody on the way takes
    /// them for a transport's, an interceptor's, or those of another call that the stream reads from.
    var tellingFailures: RequestBody {
        guard case .stream(let open) = source else { return self }
        var body = RequestBody(length: length, isReplayable: isReplayable, contentType: contentType) {
            let reader = StreamReader(open())
            return AsyncThrowingStream { try await reader.next() }
        }
        body.contentTypeIsBinding = contentTypeIsBinding
        return body
    }

    /// Reads a body's stream.
    ///
    /// `@unchecked Sendable`: the iterator is used by one task at a time, since each body has one reader, who waits for each piece.
    private final class StreamReader: @unchecked Sendable {
        private var iterator: AsyncThrowingStream<Data, any Error>.Iterator

        init(_ stream: AsyncThrowingStream<Data, any Error>) {
            iterator = stream.makeAsyncIterator()
        }

        func next() async throws -> Data? {
            do {
                return try await iterator.next()
            } catch let error as RequestBodyError {
                throw error
            } catch is CancellationError where Task.isCancelled {
                // Whoever reads was cancelled, and waits for just that.
                throw CancellationError()
            } catch {
                throw RequestBodyError(
                    message: "The stream of the request's body ended with an error: \(ServiceError.text(of: error))", underlying: error)
            }
        }
    }
}
