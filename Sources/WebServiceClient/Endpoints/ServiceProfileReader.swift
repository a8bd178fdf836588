import Foundation

/// Reads a profile and notes every fault on the way.
struct ServiceProfileReader {
    private(set) var baseURL = ""
    private(set) var entries: [EndpointTable.Entry] = []
    private(set) var faults: [String] = []
    private(set) var notes: [String] = []

    init(_ data: Data) {
        let value: ServiceProfileValue
        do {
            value = try ServiceProfileValue(data)
        } catch {
            faults.append("the data is neither a property list nor JSON: \(Self.reason(of: error))")
            return
        }
        guard case .record(let root) = value else {
            faults.append("the data has no dictionary at its root")
            return
        }
        for key in root.keys.sorted() where key != "BaseURL" && key != "Resources" {
            notes.append("the key \"\(key)\" means nothing here; there are BaseURL and Resources")
        }
        readBaseURL(root["BaseURL"])
        guard let resources = root["Resources"] else {
            faults.append("\"Resources\" is missing: an array of dictionaries with Name, URITemplate and Method")
            return
        }
        guard case .list(let list) = resources else {
            faults.append("\"Resources\" is no array")
            return
        }
        if list.isEmpty { faults.append("\"Resources\" is empty") }
        var seen: [String: Int] = [:]
        for (position, item) in list.enumerated() { readResource(item, position, &seen) }
    }

    /// What the parser says: where it knows the line, it tells it.
    private static func reason(of error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, let underlying = context.underlyingError,
            !(underlying is JSONSyntaxError)
        else { return DecodingErrorText.text(of: error) }
        let cause = underlying as NSError
        return cause.userInfo[NSDebugDescriptionErrorKey] as? String ?? cause.localizedDescription
    }

    private mutating func readBaseURL(_ value: ServiceProfileValue?) {
        guard let value else { return }
        guard let text = value.text else {
            faults.append("\"BaseURL\" is no string")
            return
        }
        faults += ServiceRoot.faults(in: text).map(\.description)
        baseURL = text
    }

    private mutating func readResource(_ item: ServiceProfileValue, _ position: Int, _ seen: inout [String: Int]) {
        guard case .record(let resource) = item else {
            faults.append("resource \(position) is no dictionary")
            return
        }
        let place = resource["Name"]?.text.map { "resource \(position) \"\($0)\"" } ?? "resource \(position)"
        let known = ["Name", "URITemplate", "Method", "AllowsBody"]
        for key in resource.keys.sorted() where !known.contains(key) {
            let nearest = NearestName.of(key, among: known)
            notes.append("\(place): the key \"\(key)\" means nothing here" + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        let name = text("Name", of: resource, place)
        let template = text("URITemplate", of: resource, place)
        let method = resource["Method"] == nil ? "GET" : text("Method", of: resource, place)
        guard let name, let template, let method else { return }
        if let earlier = seen.updateValue(position, forKey: name) {
            faults.append("\(place): the name stands at resource \(earlier) already")
        }
        var descriptor = EndpointDescriptor.endpoint(ServiceRequest.Method(rawValue: method), uriTemplate: template)
        switch resource["AllowsBody"] {
        case nil, .flag(false)?: break
        case .flag(true)?: descriptor = descriptor.allowingBody()
        default: faults.append("\(place): \"AllowsBody\" is neither true nor false")
        }
        check(descriptor, name: name, template: template, place)
        entries.append(EndpointTable.Entry(key: name, descriptor: descriptor, isBareName: !name.contains("(")))
    }

    private mutating func text(_ key: String, of resource: [String: ServiceProfileValue], _ place: String) -> String? {
        guard let value = resource[key] else {
            faults.append("\(place): \"\(key)\" is missing")
            return nil
        }
        guard let text = value.text, !text.isEmpty else {
            faults.append("\(place): \"\(key)\" is no string, or is empty")
            return nil
        }
        return text
    }

    private mutating func check(_ descriptor: EndpointDescriptor, name: String, template: String, _ place: String) {
        var key: MethodName
        do {
            key = try MethodName(name)
        } catch {
            faults.append("\(place): the name \(error.problem)")
            return
        }
        guard key.isProperty else {
            let root = ServiceRoot.hasPlaceholders(baseURL) ? baseURL : nil
            var (_, found) = EndpointCompiler.compile(descriptor, for: key, root: root)
            if let fault = ReservedKeys.fault(of: key) { found.append(fault) }
            faults += found.map { "\(place): \($0.problem); \($0.fix)" }
            return
        }
        // A bare name takes the labels of the method that calls, which isn't known yet: some method that the template fits.
        key = MethodName(baseName: key.baseName, labels: Self.labels(fitting: template))
        let (_, found) = EndpointCompiler.compile(descriptor, for: key, root: nil)
        faults += found.filter { $0.kind != .unusedArgument }.map { "\(place): \($0.problem); \($0.fix)" }
    }

    /// Labels of arguments, so many that each position and each name of a URI template is one.
    private static func labels(fitting template: String) -> [String] {
        let variables = (try? URITemplate(template))?.variables ?? []
        let positions = Set(variables.compactMap { Int($0) })
        var names = variables.filter { Int($0) == nil }[...]
        var labels: [String] = []
        // A position of thousands fits no method.
        while !names.isEmpty || positions.contains(where: { (labels.count..<1_000).contains($0) }) {
            labels.append(positions.contains(labels.count) ? "_" : names.popFirst() ?? "_")
        }
        return labels
    }
}
