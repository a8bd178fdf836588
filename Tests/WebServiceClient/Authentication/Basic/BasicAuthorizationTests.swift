import Testing

@testable import WebServiceClient

@Suite struct BasicAuthorizationTests {
    @Test func `the examples of RFC 7617`() throws {
        #expect(
            try BasicAuthorization.value(user: UserCredentials(name: "Aladdin", password: "open sesame"))
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
        #expect(try BasicAuthorization.value(user: UserCredentials(name: "test", password: "123\u{a3}")) == "Basic dGVzdDoxMjPCow==")
    }

    @Test func `passwords may hold colons, and both parts may be empty`() throws {
        #expect(try BasicAuthorization.value(user: UserCredentials(name: "a", password: "b:c")) == "Basic YTpiOmM=")
        #expect(try BasicAuthorization.value(user: UserCredentials(name: "", password: "")) == "Basic Og==")
    }

    @Test func `combining marks are composed`() throws {
        #expect(
            try BasicAuthorization.value(user: UserCredentials(name: "u\u{308}", password: "e\u{301}"))
                == BasicAuthorization.value(user: UserCredentials(name: "\u{fc}", password: "\u{e9}")))
    }

    @Test(arguments: [
        ("ada:lovelace", "p", AuthenticationError.Kind.unusableUserName, "colon"),
        ("ada\n", "p", .unusableUserName, "control character"), ("a\u{85}", "p", .unusableUserName, "control character"),
        ("ada", "hunter2\r\n", .unusablePassword, "control character"), ("ada", "hunter2\u{0}", .unusablePassword, "control character"),
        ("ada", "hunter2\u{7f}", .unusablePassword, "control character"),
    ])
    func `what Basic can't carry is refused, and named without being shown`(
        user: String, password: String, kind: AuthenticationError.Kind, reason: String
    ) throws {
        let error = try #require(throws: AuthenticationError.self) {
            try BasicAuthorization.value(user: UserCredentials(name: user, password: password))
        }
        #expect(error.kind == kind)
        #expect(error.message.contains(reason))
        #expect(!error.message.contains("hunter2") && !error.message.contains("lovelace"))
    }
}
