#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// The grants against Authlib, an authorization server in Python: `scripts/prepare` installs it.
@Suite struct AuthorizationServerTests {
    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    static func hasAuthlib() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import authlib, flask"]))?.status == 0
    }

    /// A running server.
    private final class Server: Sendable {
        let root: String
        private let process: RunningProcess
        private let input = Pipe()

        init() async throws {
            let output = Pipe()
            process = try RunningProcess(
                [AuthorizationServerTests.python, "-c", Self.program], input: input.fileHandleForReading,
                output: output.fileHandleForWriting)
            try output.fileHandleForWriting.close()
            let line = try await onOwnThread { output.fileHandleForReading.availableData }
            let port = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            root = "http://127.0.0.1:\(port)"
        }

        // The server ends when its input ends.
        deinit { process.kill() }

        func client(id: String = "app", _ authentication: OAuthClient.Authentication = .none) -> OAuthClient {
            var client = OAuthClient(id: id, authentication, tokenEndpoint: root + "/token")
            client.authorizationEndpoint = root + "/authorize"
            client.deviceAuthorizationEndpoint = root + "/device"
            client.revocationEndpoint = root + "/revoke"
            return client
        }

        func api(_ provider: BearerTokenProvider) -> WebServiceClient {
            WebServiceClient(serviceRoot: root) { $0.authenticationProvider = provider }
        }

        /// Lets all tokens expire.
        ///
        /// - Returns: The number of token requests so far.
        func expire() async throws -> Int {
            let counts: [String: Int] = try await WebServiceClient(serviceRoot: root).http.request(.post, "/expire").value()
            return counts["token"] ?? 0
        }

        private static let program = #"""
            import json, os, sys, threading, time
            os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
            from flask import Flask, jsonify, request, redirect
            from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
            from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
            from authlib.oauth2.rfc6750 import BearerTokenValidator
            from authlib.oauth2.rfc7009 import RevocationEndpoint
            from authlib.oauth2.rfc7636 import CodeChallenge
            from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE, DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
            LIFETIME = 3600
            class Client(ClientMixin):
                def __init__(self, identifier, secret): self.client_id, self.secret = identifier, secret
                def get_client_id(self): return self.client_id
                def get_default_redirect_uri(self): return None
                def get_allowed_scope(self, scope): return scope or ""
                def check_redirect_uri(self, uri): return uri.startswith("http://127.0.0.1:")
                def check_client_secret(self, secret): return self.secret == secret
                def check_endpoint_auth_method(self, method, endpoint): return method == "none" if self.secret is None else method != "none"
                def check_response_type(self, kind): return kind == "code"
                def check_grant_type(self, kind): return True
            class Token(TokenMixin):
                def __init__(self, client, values):
                    self.client, self.values, self.issued, self.revoked = client, values, time.time(), False
                def check_client(self, client): return client is self.client
                def get_scope(self): return self.values.get("scope") or ""
                def get_expires_in(self): return self.values["expires_in"]
                def is_expired(self): return time.time() > self.issued + self.values["expires_in"]
                def is_revoked(self): return self.revoked
                def get_user(self): return "ada"
                def get_client(self): return self.client
            class Code(dict):
                def __getattr__(self, name): return self.get(name)
                def get_redirect_uri(self): return self["redirect_uri"]
                def get_scope(self): return self["scope"]
            clients = {c.client_id: c for c in [Client("shop+:", "s%cret +&"), Client("app", None)]}
            tokens, codes, devices, polls = [], {}, {}, {}
            counts = {"token": 0}
            def save(values, request): tokens.append(Token(request.client, dict(values)))
            app = Flask("judge")
            app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
            app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {kind: LIFETIME for kind in ["client_credentials", "authorization_code", "refresh_token", DEVICE_CODE_GRANT_TYPE]}
            server = AuthorizationServer(app, query_client=clients.get, save_token=save)
            METHODS = ["client_secret_basic", "client_secret_post", "none"]
            class ClientCredentials(grants.ClientCredentialsGrant): TOKEN_ENDPOINT_AUTH_METHODS = METHODS
            class AuthorizationCode(grants.AuthorizationCodeGrant):
                TOKEN_ENDPOINT_AUTH_METHODS = METHODS
                def save_authorization_code(self, code, request):
                    data = request.payload.data
                    codes[code] = Code(code=code, client=request.client, redirect_uri=request.payload.redirect_uri, scope=request.payload.scope,
                        code_challenge=data.get("code_challenge"), code_challenge_method=data.get("code_challenge_method"))
                def query_authorization_code(self, code, client):
                    found = codes.get(code)
                    return found if found and found["client"] is client else None
                def delete_authorization_code(self, code): codes.pop(code["code"])
                def authenticate_user(self, code): return "ada"
            class Refresh(grants.RefreshTokenGrant):
                TOKEN_ENDPOINT_AUTH_METHODS = METHODS
                INCLUDE_NEW_REFRESH_TOKEN = True
                def authenticate_refresh_token(self, text):
                    for token in tokens:
                        if token.values.get("refresh_token") == text:
                            if not token.revoked: return token
                            for other in tokens: other.revoked = other.revoked or other.client is token.client
                def authenticate_user(self, token): return "ada"
                def revoke_old_credential(self, token): token.revoked = True
            class DeviceEndpoint(DeviceAuthorizationEndpoint):
                INTERVAL = 1
                CLIENT_AUTH_METHODS = METHODS
                def get_verification_uri(self): return "http://127.0.0.1/activate"
                def save_device_credential(self, client_id, scope, data):
                    devices[data["device_code"]] = DeviceCredentialDict(
                        dict(data, client_id=client_id, scope=scope, expires_at=time.time() + 600))
            class Device(DeviceCodeGrant):
                TOKEN_ENDPOINT_AUTH_METHODS = METHODS
                def query_device_credential(self, code): return devices.get(code)
                def query_user_grant(self, code): return ("ada", True) if polls.get("count", 0) > 2 else None
                def should_slow_down(self, credential):
                    polls["count"] = polls.get("count", 0) + 1
                    return polls["count"] == 2
            class Revocation(RevocationEndpoint):
                CLIENT_AUTH_METHODS = METHODS
                def query_token(self, text, hint):
                    return next((t for t in tokens if text in (t.values["access_token"], t.values.get("refresh_token"))), None)
                def revoke_token(self, token, request): token.revoked = True
            class Validator(BearerTokenValidator):
                def authenticate_token(self, text): return next((t for t in tokens if t.values["access_token"] == text), None)
            for grant in [ClientCredentials, Refresh, Device]: server.register_grant(grant)
            server.register_grant(AuthorizationCode, [CodeChallenge(required=True)])
            server.register_endpoint(DeviceEndpoint)
            server.register_endpoint(Revocation)
            protector = ResourceProtector()
            protector.register_token_validator(Validator())
            @app.post("/token")
            def token():
                counts["token"] += 1
                return server.create_token_response()
            @app.get("/authorize")
            def authorize(): return server.create_authorization_response(grant_user="ada", grant=server.get_consent_grant(end_user="ada"))
            @app.post("/device")
            def device(): return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)
            @app.post("/revoke")
            def revoke(): return server.create_endpoint_response(Revocation.ENDPOINT_NAME)
            @app.get("/orders")
            @protector("orders")
            def orders(): return jsonify([])
            @app.get("/admin")
            @protector("admin")
            def admin(): return jsonify([])
            @app.post("/expire")
            def expire():
                for token in tokens: token.values["expires_in"] = -1
                return jsonify(counts)
            from werkzeug.serving import make_server
            web = make_server("127.0.0.1", 0, app, threaded=True)
            print(web.port, flush=True)
            threading.Thread(target=web.serve_forever, daemon=True).start()
            sys.stdin.read()
            """#
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with authlib and flask") { await hasAuthlib() })
    func `every grant, refreshing, rotation and revocation`() async throws {
        let server = try await Server()
        let secret = "s%cret +&"
        // Client credentials, by each method.
        for authentication in [OAuthClient.Authentication.basic(secret: secret), .body(secret: secret)] {
            let provider = BearerTokenProvider(
                .clientCredentials(of: server.client(id: "shop+:", authentication), scopes: ["orders"]))
            let orders: [Int] = try await server.api(provider).http.request(.get, "/orders").value()
            #expect(orders.isEmpty)
            #expect(await serviceError { try await server.api(provider).http.request(.get, "/admin").send() }?.status == 403)
        }
        let wrong = OAuthGrant.clientCredentials(of: server.client(id: "shop+:", .body(secret: "wrong")))
        #expect(await #expect(throws: OAuthError.self) { try await wrong.token(replacing: nil) }?.code == .invalidClient)

        // The authorization code, then one refresh for many calls.
        let grant = OAuthGrant.authorizationCode(of: server.client(), scopes: ["orders"], path: "/done") { url in
            Task { try await Self.browse(url) }
        }
        let store = MemoryTokenStore()
        let provider = BearerTokenProvider(grant, store: store)
        let api = server.api(provider)
        _ = try await watched { try await api.http.request(.get, "/orders").send() }
        let first = try #require(await store.load())
        let before = try await server.expire()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { try await api.http.request(.get, "/orders").send() } }
            try await group.waitForAll()
        }
        let second = try #require(await store.load())
        #expect(try await server.expire() == before + 1, "one refresh")
        #expect(second.value != first.value && second.refreshToken != first.refreshToken)

        // A second use of the old refresh token ends the session.
        let client = server.client()
        let reuse = OAuthGrant.refreshToken(of: client)
        #expect(await #expect(throws: OAuthError.self) { try await reuse.token(replacing: first) }?.code == .invalidGrant)
        #expect(await #expect(throws: OAuthError.self) { try await reuse.token(replacing: second) }?.code == .invalidGrant)

        // The device flow, with pending and slow_down.
        let clock = HandClock(jumps: true)
        let device = OAuthGrant.device(of: clock.provide { server.client() }, scopes: ["orders"]) { prompt in
            #expect(prompt.userCode.count == 9)
        }
        let token = try await device.token(replacing: nil)
        #expect(clock.waits == [.seconds(1), .seconds(1), .seconds(6), .seconds(6)])
        #expect(token.scopes == ["orders"])
        let signedIn = server.api(BearerTokenProvider(device, store: MemoryTokenStore(token)))
        try await signedIn.http.request(.get, "/orders").send()

        // Revocation.
        try await client.revoke(token)
        let revoked = server.api(BearerTokenProvider(token: token.value))
        #expect(await serviceError { try await revoked.http.request(.get, "/orders").send() }?.status == 401)
    }

    /// Follows redirects as a browser does.
    private static func browse(_ url: URL) async throws {
        let browser = WebServiceClient()
        try await browser.http.request(outside: url).send()
    }
}
#endif
