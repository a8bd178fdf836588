import Foundation

/// An error for a body whose digest isn't the stated one, or that can't be compared with one.
public struct DigestError: DescribedError, Sendable {
    /// The kinds of errors.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The body has another digest: it was damaged or changed on its way, or it is another body.
        case mismatch
        /// The response has no digest that can be compared, but one is required.
        case missing
        /// The body isn't what the digest covers: it is a part, or it is coded.
        case incomparable
    }

    /// The kind of error.
    public let kind: Kind
    /// The algorithm of the digest; `nil` if there is none.
    public let algorithm: ContentDigest.Algorithm?
    /// The field that states the digest, such as `Content-Digest`; `nil` for a digest that the program expects.
    public let field: ContentDigest.Field?
    /// The fault and its fix.
    public let message: String

    /// The message.
    public var description: String { message }

    static func mismatch(_ stated: ContentDigest, is found: ContentDigest, in field: ContentDigest.Field?) -> DigestError {
        let source = field.map { "\($0.rawValue) states" } ?? "the call expects"
        return DigestError(
            kind: .mismatch, algorithm: stated.algorithm, field: field,
            message: "The body's \(stated.algorithm) is \(hexadecimal(found)), but \(source) \(hexadecimal(stated)): don't use the body.")
    }

    private static func hexadecimal(_ digest: ContentDigest) -> String {
        Hexadecimal.text(of: [UInt8](digest.bytes.prefix(digest.algorithm.length)))
    }
}

/// Compares a body with digests while it is read.
final class DigestCheck: Sendable {
    /// A digest and the field that states it; `nil` for one that the program expects.
    typealias Stated = (digest: ContentDigest, field: ContentDigest.Field?)

    private let hash: Locked<BodyHash>
    private let stated: [Stated]
    /// Returns digests that are known only after the body: those of trailer fields.
    private let later: @Sendable () throws -> [Stated]

    init(
        _ stated: [Stated], algorithms: [ContentDigest.Algorithm] = [], later: @escaping @Sendable () throws -> [Stated] = { [] }
    ) {
        hash = Locked(BodyHash(Set(stated.map(\.digest.algorithm)).union(algorithms)))
        self.stated = stated
        self.later = later
    }

    /// Returns the body with a check at its end.
    func checking(_ body: ResponseBody) throws -> ResponseBody {
        if let data = body.data {
            hash.withLock { $0.update(data) }
            try end()
            return body
        }
        let rest = Locked(body.makeAsyncIterator())
        return ResponseBody(
            expectedLength: body.expectedLength,
            next: { [self] in
                var iterator = rest.withLock { $0 }
                let piece = try await iterator.next()
                rest.withLock { [iterator] in $0 = iterator }
                if let piece {
                    hash.withLock { $0.update(piece) }
                } else {
                    try end()
                }
                return piece
            },
            cancel: { body.cancel() })
    }

    private func end() throws {
        let found = hash.withLock { $0.digests() }
        for (digest, field) in try stated + later() {
            guard let own = found.first(where: { $0.algorithm == digest.algorithm }), own != digest else { continue }
            throw DigestError.mismatch(digest, is: own, in: field)
        }
    }
}

/// The stage that compares responses' bodies with the digests in their fields. It is below the cache, which stores no damaged body.
struct DigestVerifying: Interceptor {
    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let response = try await next(request, context)
        guard let setting = context.attributes[DigestVerification.self] else { return response }
        return try Self.verified(response, request, setting, context)
    }

    private static func verified(
        _ response: TransportResponse, _ request: ServiceRequest, _ setting: DigestVerification, _ context: CallContext
    ) throws -> TransportResponse {
        guard setting.requirement != .off, !(100..<200).contains(response.status), response.status != 304 else { return response }
        let isRequired = setting.requirement == .required && context.record.success.contains(response.status)
        func fail(_ kind: DigestError.Kind, _ message: String) throws {
            guard isRequired else { return }
            response.body.cancel()
            throw DigestError(kind: kind, algorithm: nil, field: nil, message: message)
        }
        // The body differs from what digests cover, whether it has arrived in its coding or decoded.
        if ContentCoding.isPresent(in: response.headers) {
            try fail(
                .incomparable,
                "The response is coded, though the request asks for an uncoded one, so its digest can't be compared: don't require it.")
            let isStated = response.headers.contains(.contentDigest) || response.headers.contains(.reprDigest)
            if isStated { report("The digest of a coded response can't be compared: its body wasn't verified.", context) }
            return response
        }
        let fields: [ContentDigest.Field] = isWhole(response, request) ? [.content, .representation] : [.content]
        let stated = digests(in: response.headers, fields, context)
        // Without `Trailer` in the head, there may still be trailer fields, but this isn't known before the body is read.
        let announced = response.headers[values: "Trailer"].joined(separator: ",").lowercased()
        let trailing = fields.filter { announced.contains($0.rawValue.lowercased()) }
        guard !stated.isEmpty || !trailing.isEmpty else {
            try fail(
                .missing,
                "The response has no digest by sha-256 or sha-512 in \(fields.map(\.rawValue).joined(separator: " or ")), but the endpoint "
                    + "requires one: ask for it with .verifyingDigests(.required, wanting: [.sha256]), or don't require it.")
            return response
        }
        var response = response
        let report = response.report
        let check = DigestCheck(stated, algorithms: trailing.isEmpty ? [] : ContentDigest.Algorithm.allCases.filter(\.isActive)) {
            guard !trailing.isEmpty, let report else { return [] }
            let later = digests(in: report.trailers, trailing, context)
            if isRequired, stated.isEmpty, later.isEmpty {
                throw DigestError(
                    kind: .missing, algorithm: nil, field: nil,
                    message: "The response has announced a digest after its body, but has none by sha-256 or sha-512: don't require it.")
            }
            return later
        }
        response.body = try check.checking(response.body)
        return response
    }

    /// Whether the body is the whole representation.
    private static func isWhole(_ response: TransportResponse, _ request: ServiceRequest) -> Bool {
        request.method != .head && ![204, 205, 206].contains(response.status)
    }

    private static func digests(
        in headers: HTTPFields, _ fields: [ContentDigest.Field], _ context: CallContext
    ) -> [DigestCheck.Stated] {
        fields.flatMap { field -> [DigestCheck.Stated] in
            do {
                return try ContentDigest.digests(in: headers[values: field.name]).map { ($0, field) }
            } catch {
                report("The response's \(field.rawValue) is invalid and was ignored: \(error).", context)
                return []
            }
        }
    }

    private static func report(_ text: String, _ context: CallContext) {
        context.diagnostics.report(.init(.warning, text, call: context.identity))
    }
}
