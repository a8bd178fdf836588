import Foundation

// The parts that a provider needs to sign requests. It implements `AuthenticationProvider`, and signs in `authorize(_:context:)`, which
// runs for each attempt, after all stages that change a request.
extension AuthenticationAttempt {
    /// The header fields of the request as the server receives them: those that are set, and `Host`, `Content-Type` and `Content-Length`,
    /// which the transport derives from the URL and the body. A body of unknown length has no `Content-Length`.
    ///
    /// It lacks the fields that depend on the connection, which intermediaries change and a signature must not cover: `Accept-Encoding`,
    /// `Connection`, `Transfer-Encoding`, and cookies.
    public var sentFields: HTTPFields {
        var fields = request.headers
        if !fields.contains(.host), let origin = request.origin { fields[.host] = origin.authority }
        guard let body = request.body else { return fields }
        if let type = body.contentType, body.contentTypeIsBinding || !fields.contains(.contentType) { fields[.contentType] = type }
        if !fields.contains(.contentLength), let length = body.length { fields[.contentLength] = String(length) }
        return fields
    }

    /// Returns the SHA-256 of the request's body in its final form, 32 bytes. For a request without a body, it is the hash of zero bytes.
    ///
    /// Files and replayable streams are read for it, piece by piece, and once more when the request is sent.
    ///
    /// - Returns: `nil` if the body can be read only once. The provider then throws an ``AuthenticationError`` of the kind
    ///   `bodyNotReplayable`, or sends the service's mark of an unsigned body.
    /// - Throws: The errors of reading the body; `CancellationError`.
    public func bodySHA256() async throws -> [UInt8]? {
        var hash = SHA256()
        // A tunnel's request has no body.
        guard let body = request.body, !isForTunnel else { return hash.finalize() }
        guard body.isReplayable else { return nil }
        for try await chunk in body.chunks() {
            try Task.checkCancellation()
            chunk.withUnsafeBytes { hash.update($0) }
        }
        return hash.finalize()
    }
}

/// Hashes for signatures of requests. Foundation has none on Linux.
public enum MessageDigest {
    /// Returns the SHA-256 of a message (FIPS 180-4), 32 bytes.
    public static func sha256(of message: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(Array(message))
        return hash.finalize()
    }

    /// Returns the HMAC-SHA-256 of a message (RFC 2104), 32 bytes.
    public static func hmacSHA256(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        HMAC<SHA256>.code(of: Array(message), key: Array(key))
    }

    /// Returns bytes as lower-case hexadecimal digits.
    public static func hexadecimal(_ bytes: [UInt8]) -> String {
        Hexadecimal.text(of: bytes)
    }
}
