import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ServiceErrorTests {
    @Test func `An error tells call, stage and request, and no secret`() async throws {
        let (client, _) = Store.stubbed(.text("no", status: 403, headers: ["Set-Cookie": "s3cret", "Location": "/x?token=s3cret"])) {
            $0.headers = ["Cookie": "id=s3cret", "X-Api-Key": "s3cret", "X-Team": "core"]
            $0.headerRules = HeaderRules(harmless: ["X-Team"])
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "s3cret")
        }
        let error = try #require(
            await serviceError {
                _ = try await client.http.get("/x?access_token=s3cret&q=1").header("Authorization", "Bearer s3cret").send()
            })
        for text in [error.description, error.debugDescription, "\(error.request as Any)", "\(error.response as Any)", "\(error.call)"] {
            #expect(!text.contains("s3cret") && !text.contains(Data("ada:s3cret".utf8).base64EncodedString()), "\(text)")
        }
        #expect(
            error.description.contains("Store.GET /x") && error.description.contains("stage status") && error.description.contains("403"))
        #expect(error.request?.headers["X-Team"] == "core" && error.request?.url.contains("q=1") == true)
        let declared = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(declared.description.hasPrefix("Store.item(id:): "))
        #expect(declared.call.route == "/items/%%id%%")
    }

    @Test func `Secrets in a body that can't be read aren't shown`() async throws {
        let long = String(repeating: "s3cret", count: 200)
        for (body, type) in [
            (#"{"id":"x","access_token":"s3cret"}"#, "application/json"), (#"{"access_token": "\#(long)"}"#, "application/json"),
            (#"{"access_token":"s3cret"}"#, "text/html"), ("id=x&access_token=s3cret", "application/x-www-form-urlencoded"),
            (#"{"refresh_token":"s3cret"}"#, "application/odd"),
        ] {
            let (client, _) = Store.stubbed(.data(Data(body.utf8), type: type))
            let error = try #require(await serviceError { _ = try await client.item(id: 1) })
            #expect(!error.description.contains("s3cret"), "\(error)")
        }
    }

    @Test func `User info of a foreign URL is masked`() async throws {
        let url = try #require(URL(string: "https://ada:s3cret@other.test/x"))
        let (client, _) = Store.stubbed(.failure(TransportError(.hostNotFound, "other.test has no address")))
        let error = try #require(await serviceError { try await client.http.request(outside: url).send() })
        #expect(!error.description.contains("s3cret") && error.kind == .transport)
    }

    @Test func `A body is kept up to 64 KiB`() async throws {
        let (client, _) = Store.stubbed(.data(Data(repeating: 65, count: 70_000), type: "text/plain", status: 500))
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.response?.body.count == 65_536 && error.response?.bodyIsCut == true)
        #expect(error.description.utf8.count < 2000)
        let small = ResponseSummary(status: 500, headers: [:], url: try #require(URL(string: "https://a.test")), body: Data([0, 1]))
        #expect(small.bodyText(upTo: 10) == "2 bytes that aren't text" && !small.bodyIsCut)
    }

    @Test(arguments: [
        (TransportError.Code.timedOutWaiting, ServiceError.Kind.timeout), (.timedOutTotal, .timeout), (.cannotConnect, .transport),
        (.tls, .transport),
    ])
    func `Failures below HTTP have their kind`(code: TransportError.Code, kind: ServiceError.Kind) async throws {
        let (client, _) = Store.stubbed(.failure(TransportError(code, "x")))
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.kind == kind && error.stage == .transport && error.request != nil && error.response == nil)
    }
}
