import Foundation
import WebServiceClient

/// A client of a blob store, of the kind of Google Cloud Storage and S3: signed requests, lists in XML, transfers that survive
/// interruptions.
final class BlobStore: WebServiceClient, @unchecked Sendable {
    struct Blob: Decodable, Sendable {
        let key: String
        let size: Int64
        let lastModified: Date
    }

    struct Stored: Decodable, Sendable {
        let name: String
        let size: Int64
    }

    override class var endpoints: EndpointTable {
        [
            "blobs(prefix:)": .get("/").query("prefix", .argument("prefix")).decoding(at: "Contents")
                .paged(by: .cursor(at: "NextMarker", query: "marker", more: "IsTruncated")),
            "blob(key:)": .get("/%%key%%"),
            "beginUpload(key:)": .post("/upload").query(["uploadType": "resumable", "name": "%%key%%"]).withoutBody()
                .decoding(with: JSONSerializer()),
        ]
    }

    convenience init(root: String, id: String, key: String) {
        var rules = XMLRules()
        rules.keys = .capitalized
        self.init(serviceRoot: root) {
            $0.serializer = XMLSerializer(rules)
            $0.authenticationProvider = BlobSigner(id: id, key: Array(key.utf8))
        }
    }

    func blobs(prefix: String? = nil) async throws -> Items<Blob> { try await call(prefix) }
    func blob(key: String) async throws -> Data { try await call(key) }
    private func beginUpload(key: String) async throws -> Stored { try await call(key) }

    /// Downloads a blob, and continues what an earlier download to the file has left.
    func download(_ key: String, to file: URL) async throws -> DownloadedFile {
        try await transfers.download(to: file) { try await $0.blob(key: key) }
    }

    /// Uploads a file in pieces, and continues what an earlier upload has left, also one of an earlier run of the program.
    func upload(_ file: URL, as key: String, session: URL) async throws -> Stored {
        try await transfers.upload(file, by: .google(pieces: 262_144), options: UploadOptions(sessionFile: session)) {
            try await $0.beginUpload(key: key)
        }.value
    }
}

/// Signs each request with the user's key: method, target, date and the hash of the body.
struct BlobSigner: AuthenticationProvider {
    let id: String
    let key: [UInt8]

    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        let hash = try await attempt.bodySHA256().map(MessageDigest.hexadecimal) ?? "UNSIGNED-PAYLOAD"
        let date = Date.now.ISO8601Format()
        let text = [attempt.request.method.description, attempt.request.target, date, hash].joined(separator: "\n")
        let signature = MessageDigest.hexadecimal(MessageDigest.hmacSHA256(of: text.utf8, key: key))
        attempt.request.headers["X-Date"] = date
        attempt.request.headers["X-Content-SHA256"] = hash
        attempt.request.headers["Authorization"] = "HMAC-SHA256 Credential=\(id), Signature=\(signature)"
    }

    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool { false }
}
