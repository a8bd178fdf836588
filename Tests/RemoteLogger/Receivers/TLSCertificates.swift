import Foundation
import TestSupport
import WebServiceClient

/// Certificates of a receiver and of a client, created by openssl in a separate folder.
struct TLSCertificates: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: URL

    /// Creates an authority with a server certificate for `localhost` and `127.0.0.1`, one for another host, and a client certificate; and
    /// another, unrelated authority.
    static func make() async throws -> TLSCertificates {
        let folder = URL.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = """
            set -e
            key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2> /dev/null; }
            for name in root other; do
                key $name
                openssl req -x509 -key $name.key -out $name.pem -days 30 -subj "/CN=$name" \\
                    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
            done
            leaf() {
                key $1
                openssl req -new -key $1.key -out $1.csr -subj "/CN=$1"
                printf '%s\\n' basicConstraints=critical,CA:FALSE keyUsage=critical,digitalSignature "$2" "subjectAltName=$3" > $1.ext
                openssl x509 -req -in $1.csr -CA root.pem -CAkey root.key -set_serial $4 -days 30 -extfile $1.ext -out $1.pem
            }
            leaf server extendedKeyUsage=serverAuth DNS:localhost,IP:127.0.0.1 2
            leaf elsewhere extendedKeyUsage=serverAuth DNS:elsewhere.example 3
            leaf client extendedKeyUsage=clientAuth DNS:client.example 4
            """
        let child = try await ChildProcess.run(["sh", "-c", script], in: folder)
        guard child.status == 0 else { throw Failure(description: child.text) }
        return TLSCertificates(folder: folder)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    func certificate(_ name: String) throws -> Certificate { try Certificate(file: URL(filePath: path(name + ".pem"))) }

    /// Returns a policy that trusts only one authority.
    func trust(_ authority: String = "root", asClient: Bool = false) throws -> TrustPolicy {
        let identity =
            asClient
            ? try ClientIdentity.pem(chainFile: URL(filePath: path("client.pem")), keyFile: URL(filePath: path("client.key"))) : nil
        return TrustPolicy(authorities: .only([try certificate(authority)]), identity: identity)
    }
}
