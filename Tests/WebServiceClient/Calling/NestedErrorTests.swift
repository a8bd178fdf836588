import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Tests the errors of calls made within another call.
@Suite struct NestedErrorTests {
    private static let inner = ServiceError(
        call: CallIdentity(client: "Tokens", key: "issue()", route: "/token"), stage: .status, kind: .status,
        message: "The status 503 isn't one of 200...299.")

    private struct Failing: Interceptor {
        var isBehind = false

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            if isBehind { _ = try await next(request, context) }
            throw NestedErrorTests.inner
        }
    }

    private struct Provider: AuthenticationProvider {
        enum Place: CaseIterable, Sendable { case authorize, respond, check }
        let place: Place
        var error: any Error = NestedErrorTests.inner

        func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
            if place == .authorize { throw error }
        }

        func respond(
            to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
            context: CallContext
        ) async throws -> Bool {
            if place == .respond { throw error }
            return false
        }

        func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse {
            if place == .check { throw error }
            return response
        }

        var isSessionOpened: Bool { false }
        func invalidate() async {}
    }

    private func expectWrapped(_ error: ServiceError?, _ kind: ServiceError.Kind, _ place: String) throws {
        let error = try #require(error)
        #expect(error.call.client == "Store" && error.call.key == "item(id:)" && error.kind == kind, "\(error)")
        #expect((error.cause as? ServiceError)?.call.client == "Tokens")
        #expect(error.message.contains("Tokens.issue()") && error.message.contains("503") && error.message.contains(place), "\(error)")
        #expect(error.request?.url == "https://api.test/v1/items/1" && error.status != 503)
    }

    @Test(arguments: [false, true]) func `An interceptor's is the cause of the call's own`(isBehind: Bool) async throws {
        let (client, _) = Store.stubbed { $0.interceptors = [Failing(isBehind: isBehind)] }
        try expectWrapped(await serviceError { _ = try await client.item(id: 1) }, .interceptor, "interceptor")
    }

    @Test func `So is that of a preparer, of the call's own closure and of a processor`() async throws {
        let (client, _) = Store.stubbed { $0.interceptors = [RequestPreparer { _ in throw Self.inner }] }
        try expectWrapped(await serviceError { _ = try await client.item(id: 1) }, .interceptor, "interceptor")
        let (other, _) = Store.stubbed()
        let error = await serviceError { _ = try await other.watch(id: 1) { _ in throw Self.inner } }
        #expect(error?.call.key == "watch(id:prepare:)" && (error?.cause as? ServiceError)?.call.client == "Tokens")
    }

    @Test(arguments: Provider.Place.allCases) private func `A provider's is one of authentication`(place: Provider.Place) async throws {
        let answer = StubAnswer.text("x", status: place == .respond ? 401 : 200)
        let (client, _) = Store.stubbed(answer) { $0.authenticationProvider = Provider(place: place) }
        try expectWrapped(await serviceError { _ = try await client.item(id: 1) }, .authentication, "authentication provider")
    }

    @Test func `Whatever else a provider throws is one of authentication, too`() async throws {
        let (client, _) = Store.stubbed { $0.authenticationProvider = Provider(place: .authorize, error: Refusal(reason: "no keychain")) }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.kind == .authentication && error.cause as? Refusal == Refusal(reason: "no keychain"))
    }

    @Test func `A real call inside of a call keeps its own report`() async throws {
        let (tokens, _) = Store.stubbed(.text("later", status: 503), root: "https://tokens.test")
        let (client, _) = Store.stubbed { $0.interceptors = [RequestPreparer { _ in _ = try await tokens.item(id: 9) }] }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        let cause = try #require(error.cause as? ServiceError)
        #expect(error.request?.url == "https://api.test/v1/items/1" && cause.request?.url == "https://tokens.test/items/9")
        #expect(cause.status == 503 && error.status == nil)
        #expect(error.description.contains("https://tokens.test/items/9"))
    }

    @Test func `One that a body brings while it is read is the cause as well`() async throws {
        struct Replacing: Interceptor {
            func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
                let body = ResponseBody(expectedLength: nil, next: { throw NestedErrorTests.inner }, cancel: {})
                return TransportResponse(status: 200, url: request.url, body: body)
            }
        }
        let (client, _) = Store.stubbed { $0.interceptors = [Replacing()] }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.call.key == "item(id:)" && error.stage == .body && (error.cause as? ServiceError)?.call.client == "Tokens")
    }

    @Test func `Cancellation passes as it is`() async throws {
        let (client, _) = Store.stubbed { $0.interceptors = [RequestPreparer { _ in try await Task.sleep(for: .seconds(600)) }] }
        let call = Task { _ = try await client.item(id: 1) }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await watched { try await call.value } }
    }
}
