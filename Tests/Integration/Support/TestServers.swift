import Foundation
import Testing
import WebServiceClient

/// The third-party servers described by `servers.json`. `Tests/Integration/servers start DIR` starts them; the variable `TEST_SERVERS`
/// names that file.
struct TestServer: Decodable, Sendable {
    let url: String
    let user: String
    let password: String
    /// The certificates of the TLS servers.
    let tls: TestCertificates?
    /// The file to which a server writes the requests posted to it.
    let bodies: String?

    static let variable = "TEST_SERVERS"
    static let isNamed = ProcessInfo.processInfo.environment[variable]?.isEmpty == false

    /// Returns the running server of a name.
    static func named(_ name: String) throws -> TestServer {
        let file = ProcessInfo.processInfo.environment[variable] ?? ""
        let all = try JSONDecoder().decode([String: TestServer].self, from: Data(contentsOf: URL(filePath: file)))
        guard let server = all[name] else { throw Missing(description: "\(file) describes no server \"\(name)\": start the servers anew.") }
        return server
    }

    /// The root of httpbin, which most tests call.
    static var httpbin: String { get throws { try named("httpbin").url } }

    /// Returns a client of httpbin without a table.
    static func client(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) throws -> WebServiceClient {
        WebServiceClient(serviceRoot: try httpbin, configure: configure)
    }

    struct Missing: Error, CustomStringConvertible {
        let description: String
    }
}

/// All tests against real servers, one after another: some of them load the servers, and others measure time.
@Suite(
    .serialized,
    .enabled(
        if: TestServer.isNamed,
        "The servers are not there: run `Tests/Integration/servers start DIR` and set TEST_SERVERS to DIR/servers.json."))
enum IntegrationTests {}
