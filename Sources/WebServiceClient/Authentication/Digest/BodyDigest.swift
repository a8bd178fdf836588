import Foundation

/// Hashes bodies for `auth-int` (RFC 7616 §3.4.3), piece by piece: a file's needn't fit into memory.
enum BodyDigest {
    /// The digest of a request's body, of no bytes if there is none.
    /// - Throws: ``AuthenticationError`` if the body could be read only this once.
    static func text(of body: RequestBody?, _ function: DigestAlgorithm.Function) async throws -> String {
        var hash = function.makeHash()
        guard let body else { return Hexadecimal.text(of: hash.finalize()) }
        guard body.isReplayable else {
            throw AuthenticationError(
                .bodyNotReplayable,
                message: """
                    The server wants the request's body to be signed (Digest qop=auth-int), and this one is a stream that can be read only \
                    once: make the body from Data, from a file or from a replayable stream.
                    """)
        }
        for try await chunk in body.chunks() {
            try Task.checkCancellation()
            chunk.withUnsafeBytes { hash.update($0) }
        }
        return Hexadecimal.text(of: hash.finalize())
    }

    /// The digest of bytes in memory.
    static func text(of data: Data, _ function: DigestAlgorithm.Function) -> String {
        var hash = function.makeHash()
        data.withUnsafeBytes { hash.update($0) }
        return Hexadecimal.text(of: hash.finalize())
    }
}
