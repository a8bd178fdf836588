public import Foundation

extension ServiceEnvironments {
    /// Reads environments from a JSON file or a property list (XML or binary).
    ///
    ///     {
    ///       "Initial": "staging",
    ///       "Environments": [
    ///         { "Name": "production", "BaseURL": "https://api.example.com/v1" },
    ///         { "Name": "staging", "BaseURL": "https://staging.example.com/v1", "Headers": { "X-Debug": "1" },
    ///           "BaseURLs": { "Accounts": "https://accounts.staging.example.com" },
    ///           "AllowedOrigins": ["https://eu.staging.example.com"], "Timeouts": { "Total": 30 }, "Values": { "clientID": "7" } }
    ///       ]
    ///     }
    ///
    /// `Timeouts` has up to four deadlines in seconds: `FirstByte`, `Idle`, `Connect` and `Total`. Only `Name` and at least one of
    /// `BaseURL` and `BaseURLs` are required. Credentials don't belong in the file: `configure` sets the authentication provider of each
    /// environment.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - choice: Where the name of the current environment is kept; a kept name takes precedence over `Initial`. Default: nowhere.
    ///   - configure: Adjusts a client's settings while an environment is current. It runs whenever a client's settings are computed, so it
    ///     must set the same instances of providers, jars and caches each time.
    /// - Throws: ``ServiceEnvironmentError`` with all faults of the file's form, or else with all faults of its environments.
    public convenience init(
        contentsOf file: URL, choice: EnvironmentChoice? = nil,
        configure: (@Sendable (ServiceEnvironment, inout WebServiceClient.Configuration) -> Void)? = nil
    ) throws(ServiceEnvironmentError) {
        let name = file.lastPathComponent
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .invalid(["the file can't be read: check that it exists and is readable"], file: name)
        }
        let content = try EnvironmentFile(data, name: name)
        try self.init(
            content.environments.map { environment in
                guard let configure else { return environment }
                var environment = environment
                let plain = environment
                environment.configure = { configure(plain, &$0) }
                return environment
            }, initial: content.initial, choice: choice, file: name)
    }
}

/// The content of a file of environments.
struct EnvironmentFile {
    private(set) var initial: String?
    private(set) var environments: [ServiceEnvironment] = []
    private var faults: [String] = []

    /// Reads a file's content.
    ///
    /// - Throws: ``ServiceEnvironmentError`` with every fault of the file's form.
    init(_ data: Data, name: String) throws(ServiceEnvironmentError) {
        let value: SettingsFileValue
        do {
            value = try SettingsFileValue(data)
        } catch {
            throw .invalid(["the file is neither JSON nor a property list: \(DecodingErrorText.text(of: error))"], file: name)
        }
        guard case .record(let root) = value else {
            throw .invalid(["the file has no dictionary at its root: give it one with Environments"], file: name)
        }
        check(root, known: ["Environments", "Initial"], "the file")
        initial = text("Initial", of: root, "the file")
        if case .list(let list)? = root["Environments"] {
            for (position, item) in list.enumerated() { read(item, position) }
        } else {
            faults.append("\"Environments\" is missing, or isn't an array: give it dictionaries with Name and BaseURL")
        }
        guard faults.isEmpty else { throw .invalid(faults, file: name) }
    }

    private mutating func read(_ item: SettingsFileValue, _ position: Int) {
        let index = "Environments[\(position)]"
        guard case .record(let record) = item else {
            faults.append("\(index) isn't a dictionary: give it Name and BaseURL")
            return
        }
        guard let name = text("Name", of: record, index) else {
            if record["Name"] == nil { faults.append("\(index): \"Name\" is missing") }
            return
        }
        let place = "\(index) \"\(name)\""
        check(record, known: ["Name", "BaseURL", "BaseURLs", "AllowedOrigins", "Headers", "Timeouts", "Values"], place)
        var environment = ServiceEnvironment(name, serviceRoot: text("BaseURL", of: record, place) ?? "")
        environment.serviceRoots = texts("BaseURLs", of: record, place)
        environment.values = texts("Values", of: record, place)
        for (name, value) in texts("Headers", of: record, place).sorted(by: { $0.key < $1.key }) {
            environment.headers.append(HTTPFields.Name(name), value)
        }
        switch record["AllowedOrigins"] {
        case nil: break
        case .list(let list)?:
            environment.allowedOrigins = list.compactMap(\.text)
            if environment.allowedOrigins.count < list.count { faults.append("\(place): an entry of \"AllowedOrigins\" isn't a string") }
        default: faults.append("\(place): \"AllowedOrigins\" isn't an array")
        }
        readTimeouts(record["Timeouts"], into: &environment.timeouts, place)
        environments.append(environment)
    }

    private mutating func readTimeouts(_ value: SettingsFileValue?, into timeouts: inout ServiceTimeouts, _ place: String) {
        guard let value else { return }
        guard case .record(let record) = value else {
            faults.append("\(place): \"Timeouts\" isn't a dictionary")
            return
        }
        check(record, known: ["FirstByte", "Idle", "Connect", "Total"], "\(place), Timeouts")
        for (key, path) in [
            ("FirstByte", \ServiceTimeouts.firstByte), ("Idle", \.idle), ("Connect", \.connect), ("Total", \.total),
        ] as [(String, WritableKeyPath<ServiceTimeouts, Duration?>)] {
            guard let value = record[key] else { continue }
            // The bound, about 95 years, prevents overflows.
            if case .number(let seconds) = value, seconds > 0, seconds <= 3_000_000_000 {
                timeouts[keyPath: path] = .seconds(seconds)
            } else {
                faults.append("\(place): the deadline \"\(key)\" must be a number of seconds above 0 and at most 3,000,000,000")
            }
        }
    }

    private mutating func check(_ record: [String: SettingsFileValue], known: [String], _ place: String) {
        for key in record.keys.sorted() where !known.contains(key) {
            let nearest =
                NearestName.of(key, among: known).map { "did you mean \"\($0)\"?" } ?? "the known keys are \(known.joined(separator: ", "))"
            faults.append("\(place): the key \"\(key)\" is unknown; \(nearest)")
        }
    }

    private mutating func text(_ key: String, of record: [String: SettingsFileValue], _ place: String) -> String? {
        guard let value = record[key] else { return nil }
        if let text = value.text { return text }
        faults.append("\(place): \"\(key)\" isn't a string")
        return nil
    }

    private mutating func texts(_ key: String, of record: [String: SettingsFileValue], _ place: String) -> [String: String] {
        guard let value = record[key] else { return [:] }
        guard case .record(let found) = value else {
            faults.append("\(place): \"\(key)\" isn't a dictionary")
            return [:]
        }
        var texts: [String: String] = [:]
        for (name, value) in found.sorted(by: { $0.key < $1.key }) {
            if let text = value.text { texts[name] = text } else { faults.append("\(place): \"\(name)\" in \"\(key)\" isn't a string") }
        }
        return texts
    }
}
