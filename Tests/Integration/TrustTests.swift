import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Trust over libcurl, against nginx, Apache and lighttpd with certificates made by openssl, which also computed the pins.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.pinning) == true, "needs libcurl 7.80 or later with OpenSSL"))
    struct TrustTests {
        private let transport: CurlTransport
        private let files: TestCertificates

        init() throws {
            transport = try CurlTransport()
            files = try #require(try TestServer.named("tls-nginx").tls)
        }

        /// Sends a request and returns the text of the body.
        private func get(_ server: String, at path: String = "/hello.txt", host: String? = nil, _ trust: TrustPolicy?) async throws -> (
            response: TransportResponse, text: String
        ) {
            var url = try TestServer.named(server).url + path
            if let host { url = url.replacingOccurrences(of: "127.0.0.1", with: host) }
            var request = ServiceRequest(url: try #require(URL(string: url)))
            request.trust = trust
            let response = try await transport.send(request)
            return (response, String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self))
        }

        /// Returns the error of an exchange; `nil` if it succeeds.
        private func failure(
            _ server: String, at path: String = "/hello.txt", host: String? = nil, _ trust: TrustPolicy?
        ) async throws -> TransportError? {
            do {
                _ = try await get(server, at: path, host: host, trust)
                return nil
            } catch let error as TransportError {
                return error
            }
        }

        fileprivate static func failure(of request: ServiceRequest, over transport: some Transport) async -> TransportError? {
            do {
                _ = try await transport.send(request)
                return nil
            } catch {
                return error as? TransportError
            }
        }

        private func policy(
            _ authorities: CertificateAuthorities? = nil, identity: ClientIdentity? = nil, pins: [HostPattern: PinSet] = [:],
            minimum: TLSVersion? = nil
        ) throws -> TrustPolicy {
            TrustPolicy(
                authorities: try authorities ?? files.ownAuthorityOnly(), identity: identity, pins: pins, minimumTLSVersion: minimum)
        }

        private struct Who: Decodable {
            let tls: String
            let http: String
            let client: String
            let connection: Int?
        }

        private func who(_ server: String, _ trust: TrustPolicy) async throws -> Who {
            try JSONDecoder().decode(Who.self, from: Data(try await get(server, at: "/who", trust).text.utf8))
        }

        // MARK: Authorities

        @Test(arguments: ["tls-nginx", "tls-apache", "tls-nginx-12", "tls-nginx-13"])
        func `An own authority vouches, alone and beside the system's`(server: String) async throws {
            #expect(try await get(server, try policy()).text == "hello\n")
            let root = try TestCertificates.certificate(files.root)
            #expect(try await get(server, try policy(.system(adding: [root]))).text == "hello\n")
            let both = [try TestCertificates.certificate(files.otherRoot), root]
            #expect(try await get(server, try policy(.only(both))).text == "hello\n")
        }

        @Test func `lighttpd speaks to it as well`() async throws {
            #expect(try await get("tls-lighttpd", at: "/get", try policy()).response.status == 200)
        }

        @Test func `Without the own authority, or with another's, the issuer is unknown`() async throws {
            for trust in [nil, TrustPolicy(), try policy(.only([TestCertificates.certificate(files.otherRoot)]))] {
                #expect(try await failure("tls-nginx", trust)?.code == .unknownIssuer)
            }
            #expect(try await failure("tls-nginx", try policy()) == nil)
        }

        @Test(arguments: [
            ("tls-expired", TransportError.Code.certificateExpired), ("tls-not-yet-valid", .certificateNotYetValid),
            ("tls-wrong-host", .certificateForOtherHost), ("tls-unknown-issuer", .unknownIssuer), ("tls-self-signed", .unknownIssuer),
            ("tls-incomplete", .unknownIssuer),
        ])
        func `Each fault of a certificate has its own code`(server: String, code: TransportError.Code) async throws {
            let error = try await failure(server, try policy())
            #expect(error?.code == code && error?.isTrustFailure == true)
            #expect(error?.message.contains("127.0.0.1") == true)
            // Pins are checked in addition to certificates, never instead.
            let pins: PinSet = [.publicKey(sha256: files.serverPin), .publicKey(sha256: files.wrongPin), .publicKey(sha256: files.rootPin)]
            #expect(try await failure(server, try policy(pins: ["127.0.0.1": pins]))?.code == code)
        }

        @Test func `A certificate that vouches for itself can be trusted by itself`() async throws {
            let itself = try TestCertificates.certificate(files.selfSigned)
            #expect(try await get("tls-self-signed", try policy(.only([itself]))).text == "hello\n")
            #expect(try await failure("tls-nginx", try policy(.only([itself])))?.code == .unknownIssuer)
        }

        @Test func `An intermediate that the server leaves out can be named`() async throws {
            let authorities = [try TestCertificates.certificate(files.root), try TestCertificates.certificate(files.intermediate)]
            #expect(try await get("tls-incomplete", try policy(.only(authorities))).text == "hello\n")
        }

        @Test func `A policy is kept to also where a connection of another one is open`() async throws {
            #expect(try await get("tls-nginx", try policy()).response.status == 200)
            #expect(try await failure("tls-nginx", nil)?.code == .unknownIssuer)
            let wrong: [HostPattern: PinSet] = ["127.0.0.1": [.publicKey(sha256: files.wrongPin)]]
            #expect(try await failure("tls-nginx", try policy(pins: wrong))?.code == .pinMismatch)
            #expect(try await get("tls-nginx", try policy()).response.status == 200)
            let right: [HostPattern: PinSet] = ["127.0.0.1": [.publicKey(sha256: files.serverPin)]]
            #expect(try await get("tls-nginx", try policy(pins: right)).response.status == 200)
            #expect(try await failure("tls-nginx", try policy(pins: wrong))?.code == .pinMismatch)
        }

        /// A connection without pins may resume a session, which contains no certificates to check.
        @Test(
            .enabled("older libraries than 7.83.1 don't keep them apart: there each call with pins makes a connection") {
                ((try? CurlLibrary.open().versionNumber) ?? 0) >= 0x07_53_01
            })
        func `Calls with pins share a connection among themselves, and none with calls without them`() async throws {
            let plain = try policy()
            let pinned = try policy(pins: ["127.0.0.1": [.publicKey(sha256: files.serverPin)]])
            let without = try #require(try await who("tls-nginx", plain).connection)
            let with = try #require(try await who("tls-nginx", pinned).connection)
            #expect(without != with)
            #expect(try await who("tls-nginx", pinned).connection == with)
            #expect(try await who("tls-nginx", plain).connection == without)
        }

        // MARK: Pins

        @Test(arguments: ["tls-nginx", "tls-nginx-12", "tls-apache"])
        func `Pins of the server, its issuers and backups let it pass`(server: String) async throws {
            let wrong = CertificatePin.publicKey(sha256: files.wrongPin)
            for pins: PinSet in [
                [.publicKey(sha256: files.serverPin)], [.publicKey(sha256: files.intermediatePin)], [.publicKey(sha256: files.rootPin)],
                [wrong, .publicKey(sha256: files.serverPin)], [.certificate(try TestCertificates.certificate(files.server))],
                [.certificate(try TestCertificates.certificate(files.intermediate))],
                [wrong, .certificate(try TestCertificates.certificate(files.root))],
            ] {
                #expect(try await failure(server, try policy(pins: ["127.0.0.1": pins])) == nil, "\(pins)")
            }
        }

        @Test(arguments: ["tls-nginx", "tls-nginx-12", "tls-apache", "tls-lighttpd"])
        func `A wrong pin ends the exchange and tells what was seen`(server: String) async throws {
            let pins: PinSet = [.publicKey(sha256: files.wrongPin), .certificate(try TestCertificates.certificate(files.otherRoot))]
            let error = try await failure(server, at: "/get", try policy(pins: ["127.0.0.1": pins]))
            #expect(error?.code == .pinMismatch)
            let mismatch = try #require(error?.underlying as? PinMismatch)
            #expect(mismatch.host == "127.0.0.1" && mismatch.expected.count == 2)
            #expect(mismatch.seen.map(\.publicKeyPin) == [files.serverPin, files.intermediatePin, files.rootPin])
            #expect(mismatch.seen.map(\.role) == [.leaf, .issuer, .root])
            // The pins that the message suggests must match.
            let seen: PinSet = [.publicKey(sha256: try #require(mismatch.seen.first).publicKeyPin)]
            #expect(try await failure(server, at: "/get", try policy(pins: ["127.0.0.1": seen])) == nil)
        }

        @Test func `An authority that a server merely sends along passes no pin`() async throws {
            let sentAlong = try TestCertificates.certificate(files.otherRoot)
            for pin: CertificatePin in [.certificate(sentAlong), .publicKey(of: sentAlong)] {
                let error = try await failure("tls-padded", try policy(pins: ["127.0.0.1": [pin]]))
                #expect(error?.code == .pinMismatch)
            }
            let right: PinSet = [.publicKey(sha256: files.rootPin)]
            #expect(try await failure("tls-padded", try policy(pins: ["127.0.0.1": right])) == nil)
        }

        @Test func `Nothing is sent to a server whose pins don't match`() async throws {
            let url = try #require(URL(string: try TestServer.named("tls-nginx").url + "/anything"))
            let body = RequestBody {
                AsyncThrowingStream { continuation in
                    continuation.yield(Data("secret".utf8))
                    continuation.finish()
                }
            }
            var request = ServiceRequest(method: .post, url: url, body: body)
            request.uploadProgress = { progress in #expect(progress.completed == 0) }
            request.trust = try policy(pins: ["127.0.0.1": [.publicKey(sha256: files.wrongPin)]])
            #expect(await Self.failure(of: request, over: transport)?.code == .pinMismatch)
        }

        @Test func `Pins are of their host: by name, by wildcard, by address`() async throws {
            let wrong: PinSet = [.publicKey(sha256: files.wrongPin)]
            #expect(try await failure("tls-nginx", host: "localhost", try policy(pins: ["localhost": wrong]))?.code == .pinMismatch)
            #expect(try await failure("tls-nginx", host: "LOCALHOST", try policy(pins: ["localhost": wrong]))?.code == .pinMismatch)
            #expect(try await failure("tls-nginx", host: "localhost", try policy(pins: ["127.0.0.1": wrong, "*.localhost": wrong])) == nil)
        }

        // MARK: Clients

        @Test(arguments: ["tls-client-nginx", "tls-client-apache"])
        func `A client shows its identity in each form`(server: String) async throws {
            let chain = URL(filePath: files.client)
            let identities = [
                try files.identity(),
                try .pem(chainFile: chain, keyFile: URL(filePath: files.clientEncryptedKey), passphrase: files.passphrase),
                try .pkcs12(file: URL(filePath: files.clientPKCS12), passphrase: files.passphrase),
            ]
            for identity in identities {
                #expect(try await get(server, try policy(identity: identity)).text == "hello\n", "\(identity)")
            }
            guard server == "tls-client-nginx" else { return }
            #expect(try await who(server, try policy(identity: identities[2])).client.contains("CN=Integration Client"))
        }

        @Test func `Without an identity, or with another's, the server refuses`() async throws {
            let other = try ClientIdentity.pem(
                chainFile: URL(filePath: files.otherClient), keyFile: URL(filePath: files.otherClientKey))
            // nginx refuses in HTTP, Apache in TLS.
            #expect(try await get("tls-client-nginx", try policy()).response.status == 400)
            #expect(try await get("tls-client-nginx", try policy(identity: other)).response.status == 400)
            var configuration = CurlTransport.Configuration()
            configuration.httpVersion = .http1
            let plain = try CurlTransport(configuration: configuration)
            var request = ServiceRequest(url: try #require(URL(string: try TestServer.named("tls-client-apache").url + "/hello.txt")))
            for identity in [nil, other] {
                request.trust = try policy(identity: identity)
                let error = await Self.failure(of: request, over: plain)
                #expect(error?.code == .clientCertificate, "\(String(describing: error))")
                // Over HTTP/2, libcurl 7.88 sends before it reads the server's alert, and then sees only the closed connection.
                let late = try await failure("tls-client-apache", request.trust)
                #expect(late?.code == .clientCertificate || late?.code == .connectionLost, "\(String(describing: late))")
            }
        }

        @Test func `An identity that can't be used is the client's fault, and no secret is told`() async throws {
            let chain = URL(filePath: files.client)
            let wrong = [
                try ClientIdentity.pem(chainFile: chain, keyFile: URL(filePath: files.clientEncryptedKey), passphrase: "wr0ng"),
                try .pkcs12(file: URL(filePath: files.clientPKCS12), passphrase: "wr0ng"),
                try .pkcs12(file: URL(filePath: files.clientPKCS12)),
                // The key of another certificate.
                try .pem(chainFile: chain, keyFile: URL(filePath: files.otherClientKey)),
            ]
            for identity in wrong {
                let error = try await failure("tls-client-nginx", try policy(identity: identity))
                #expect(error?.code == .clientCertificate, "\(identity): \(String(describing: error))")
                #expect(error?.description.contains("wr0ng") == false)
            }
        }

        @Test func `A connection that was made with an identity isn't used without it`() async throws {
            let with = try policy(identity: try files.identity())
            #expect(try await get("tls-client-nginx", with).response.status == 200)
            #expect(try await get("tls-client-nginx", with.withoutIdentityByHand).response.status == 400)
            #expect(try await get("tls-client-nginx", with).response.status == 200)
        }

        @Test func `A client's identity stays with its service`() async throws {
            let trust = try policy(identity: try files.identity())
            let nginx = try TestServer.named("tls-client-nginx").url
            let service = WebServiceClient(serviceRoot: nginx) { [transport] in
                $0.transport = transport
                $0.trust = trust
            }
            let own = try await service.http.get("/who").value(String.self)
            #expect(own.contains("Integration Client"))
            // Another client, whose service redirects to the server that requires a certificate.
            let elsewhere = WebServiceClient(serviceRoot: try TestServer.named("tls-nginx").url) { [transport] in
                $0.transport = transport
                $0.trust = trust
            }
            let call = elsewhere.http.request(.get, "/redirect-to?url=%%0%%", nginx + "/who")
            let error = await #expect(throws: ServiceError.self) { _ = try await call.value(String.self) }
            #expect(error?.status == 400)
        }

        // MARK: Versions

        @Test func `The lowest version of TLS is kept to`() async throws {
            #expect(try await who("tls-nginx", try policy()).tls == "TLSv1.3")
            #expect(try await who("tls-nginx-12", try policy(minimum: .tlsv12)).tls == "TLSv1.2")
            #expect(try await who("tls-nginx-13", try policy(minimum: .tlsv12)).tls == "TLSv1.3")
            #expect(try await who("tls-nginx", try policy(minimum: .tlsv13)).tls == "TLSv1.3")
            let error = try await failure("tls-nginx-12", try policy(minimum: .tlsv13))
            #expect(error?.code == .tls && error?.isTrustFailure == true, "\(String(describing: error))")
        }

        @Test func `HTTP 2 is spoken with all of them`() async throws {
            #expect(try await who("tls-nginx", try policy()).http == "HTTP/2.0")
            #expect(try await get("tls-apache", try policy()).response.httpVersion == "HTTP/2")
            #expect(try await get("tls-lighttpd", at: "/get", try policy()).response.httpVersion == "HTTP/2")
        }
    }

    /// The errors that URLSession on Linux reports for certificates, although it doesn't support own authorities.
    @Suite struct URLSessionTrustTests {
        @Test func `An unknown issuer is told apart, and a policy is refused`() async throws {
            let server = try TestServer.named("tls-nginx")
            var request = ServiceRequest(url: try #require(URL(string: server.url + "/hello.txt")))
            let unknown = await TrustTests.failure(of: request, over: URLSessionTransport.shared)
            #expect(unknown?.code == .unknownIssuer, "\(String(describing: unknown))")
            #if canImport(FoundationNetworking)
            request.trust = TrustPolicy(authorities: try #require(server.tls).ownAuthorityOnly())
            let refused = await TrustTests.failure(of: request, over: URLSessionTransport.shared)
            #expect(refused?.code == .unsupported)
            #endif
        }
    }
}

extension TrustPolicy {
    /// The same without the identity, as a separate policy.
    fileprivate var withoutIdentityByHand: TrustPolicy {
        var policy = self
        policy.identity = nil
        return policy
    }
}
