import Foundation

extension RequestBody {
    /// The same body, whose stream's errors come as ``RequestBodyError`` with what was thrown underneath, so that nobody on the way takes
    /// them for a transport's, an interceptor's, or those of another call that the stream reads from.
    var tellingFailures: RequestBody {
        guard case .stream(let open) = source else { return self }
        var body = RequestBody(length: length, isReplayable: isReplayable, contentType: contentType) {
            let pieces = PieceReader(open())
            return AsyncThrowingStream { try await RequestBody.telling { try await pieces.next() } }
        }
        body.contentTypeIsBinding = contentTypeIsBinding
        return body
    }

    /// Makes what a body's own stream throws known as the body's.
    private static func telling(_ next: () async throws -> Data?) async throws -> Data? {
        do {
            return try await next()
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
