import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct EnvironmentFileTests {
    private let folder = TemporaryFolder()
    private static let json = """
        { "Initial": "staging", "Environments": [
            { "Name": "production", "BaseURL": "https://api.test/v1" },
            { "Name": "staging", "BaseURL": "https://staging.test/v1", "Headers": { "X-Debug": "1" },
              "BaseURLs": { "Accounts": "https://accounts.staging.test" }, "AllowedOrigins": ["https://eu.staging.test"],
              "Timeouts": { "Total": 30, "Idle": 0.5 }, "Values": { "clientID": "7" } } ] }
        """

    private func file(_ data: Data, _ name: String = "environments.json") throws -> URL {
        let file = folder.url.appending(path: name)
        try data.write(to: file)
        return file
    }

    private func problem(_ text: String) throws -> String {
        do {
            _ = try ServiceEnvironments(contentsOf: file(Data(text.utf8)))
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `JSON and property lists say the same`() throws {
        let object = try JSONSerialization.jsonObject(with: Data(Self.json.utf8))
        var files = [try file(Data(Self.json.utf8))]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            files.append(
                try file(
                    PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0),
                    "environments\(format.rawValue).plist"))
        }
        for file in files {
            let environments = try ServiceEnvironments(contentsOf: file) { environment, settings in
                settings.bodyLimit = environment.values["clientID"].flatMap { Int($0) } ?? 1
            }
            let current = environments.current
            #expect(environments.names == ["production", "staging"] && current.name == "staging")
            #expect(current.serviceRoots == ["Accounts": "https://accounts.staging.test"] && current.headers == ["X-Debug": "1"])
            #expect(current.allowedOrigins == ["https://eu.staging.test"] && current.timeouts.idle == .seconds(0.5))
            #expect(current.timeouts.total == .seconds(30) && current.timeouts.firstByte == nil)
            let client = WebServiceClient(environments: environments)
            #expect(client.state.configuration.bodyLimit == 7)
            try environments.switchTo("production")
            #expect(client.state.configuration.bodyLimit == 1)
        }
    }

    @Test func `every fault of a file is told, with its name`() throws {
        let text = try problem(
            """
            { "Inital": "a", "Environments": [ 7, { "BaseURL": "https://a.test" },
              { "Name": "a", "BaseURL": 7, "Headers": [], "Timeouts": { "Totl": 1, "Total": -1, "Idle": "x", "Connect": 1e300 },
                "AllowedOrigins": [7], "Values": { "a": 7 }, "BaseUrl": "" } ] }
            """)
        for part in [
            "The environments in environments.json can't be used", "\"Inital\" is unknown; did you mean \"Initial\"?",
            "Environments[0] isn't a dictionary: give it Name and BaseURL", "Environments[1]: \"Name\" is missing",
            "Environments[2] \"a\": \"BaseURL\" isn't a string",
            "\"Headers\" isn't a dictionary", "\"Totl\" is unknown; did you mean \"Total\"?", "\"Total\" must be a number of seconds",
            "\"Idle\" must be a number of seconds", "\"Connect\" must be a number of seconds",
            "an entry of \"AllowedOrigins\" isn't a string",
            "\"a\" in \"Values\" isn't a string", "\"BaseUrl\" is unknown; did you mean \"BaseURL\"?",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        for (text, part) in [
            ("", "the file is neither JSON nor a property list"), ("[]", "no dictionary"), ("{}", "\"Environments\" is missing"),
            (#"{"Environments":[]}"#, "there are no environments"), (#"{"Environments":[{"Name":"a"}]}"#, "has no service root"),
            (
                #"{"Initial":"b","Environments":[{"Name":"a","BaseURL":"https://a.test"}]}"#,
                "environments.json: There is no environment \"b\""
            ),
            (#"{"Environments":[{"Name":"a","BaseURL":"https://a.test","Timeouts":{"Total":true}}]}"#, "must be a number of seconds"),
        ] {
            let found = try problem(text)
            #expect(found.contains(part) && found.contains("environments.json"), "\(found)")
        }
        let missing = #expect(throws: ServiceEnvironmentError.self) {
            try ServiceEnvironments(contentsOf: folder.url.appending(path: "none.json"))
        }
        #expect(missing?.description.contains("none.json") == true)
    }

    // MARK: The choice

    private static let two = [
        ServiceEnvironment("a", serviceRoot: "https://a.test"), ServiceEnvironment("b", serviceRoot: "https://b.test"),
    ]

    @Test func `the choice is kept in a file`() throws {
        let place = folder.url.appending(path: "own/choice")
        let choice = EnvironmentChoice.file(place)
        try ServiceEnvironments(Self.two, choice: choice).switchTo("b")
        let next = try ServiceEnvironments(Self.two, initial: "a", choice: choice)
        #expect(next.current.name == "b" && next.choiceFault == nil)
        // An unusable choice is reported, and doesn't end the program.
        for (content, part) in [(Data("c".utf8), "There is no environment \"c\""), (Data([0xFF]), "isn't text")] {
            try PrivateFile(place).replace(with: content)
            let other = try ServiceEnvironments(Self.two, choice: choice)
            #expect(other.current.name == "a" && other.choiceFault?.description.contains(part) == true, "\(other.choiceFault as Any)")
            let told = Locked<[String]>([])
            _ = WebServiceClient(environments: other) {
                $0.diagnostics = Diagnostics { event in told.withLock { $0.append(event.message) } }
            }
            #expect(told.withLock { $0.count } == 1)
        }
    }

    @Test func `a choice that can't be kept is an error after the switch`() throws {
        let environments = try ServiceEnvironments(Self.two, choice: .file(folder.url))
        #expect(environments.choiceFault?.description.contains("isn't a regular file") == true)
        let error = #expect(throws: ServiceEnvironmentError.self) { try environments.switchTo("b") }
        #expect(error?.kind == .choiceNotKept && environments.current.name == "b")
    }

    @Test func `of concurrent switches the last one is kept`() async throws {
        let kept = Locked("")
        let environments = try ServiceEnvironments(
            Self.two, choice: EnvironmentChoice(load: { nil }, save: { name in kept.withLock { $0 = name } }))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try environments.switchTo(number % 2 == 0 ? "b" : "a") } }
            try await group.waitForAll()
        }
        #expect(kept.withLock { $0 } == environments.current.name)
    }

    @Test func `the choice is kept in the user's defaults`() throws {
        let suite = "WebServiceClientTests.\(UUID().uuidString)"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        let choice = EnvironmentChoice.userDefaults(key: "environment", suite: suite)
        try ServiceEnvironments(Self.two, choice: choice).switchTo("b")
        #expect(try ServiceEnvironments(Self.two, choice: choice).current.name == "b")
    }
}
