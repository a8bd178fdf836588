public import Foundation
public import WebServiceClient

/// The methods of a client, read from the symbol tables of the running process.
///
///     let list = MethodList(of: GitHub.self)
///     print(list.completeness, list.methods.map(\.name))
///
/// Debug builds, such as those of `swift test`, have the symbols of all methods. An optimized build has those of public methods only, and a
/// stripped one may have none: see ``completeness``.
public struct MethodList: Sendable {
    /// The part of the methods that the list contains.
    public enum Completeness: Sendable, Hashable, CustomStringConvertible {
        /// All methods.
        case complete
        /// Certainly only the public methods, for this reason.
        case publicOnly(String)
        /// No methods, for this reason.
        case unreadable(String)

        /// The case and its reason.
        public var description: String {
            switch self {
            case .complete: "complete"
            case .publicOnly(let reason): "public methods only: \(reason)"
            case .unreadable(let reason): "unreadable: \(reason)"
            }
        }
    }

    /// A method, or the getter of a property.
    public struct Method: Sendable, Hashable, CustomStringConvertible {
        /// The name as `#function` spells it.
        public let name: MethodName
        /// The types of the parameters, with their modules.
        public let parameters: [String]
        /// The type of the result, with its modules; `()` for none.
        public let result: String
        /// Whether the method is asynchronous; unknown for a property.
        public let isAsync: Bool
        /// Whether the method throws; unknown for a property.
        public let isThrowing: Bool
        /// The name of the class that declares the method: the client's class or a superclass.
        public let owner: String
        /// Whether the method passes on its own name, as `call` and `stream` do by default; `nil` if its code can't be read.
        public let usesOwnName: Bool?

        /// The protocols of the generic parameters.
        let constraints: [String: [String]]
        /// The types for ``parameters``, if they were found.
        let parameterTypes: [(any Any.Type)?]
        let resultType: (any Any.Type)?

        init(_ method: SymbolSearch.Method, owner: String) {
            name = method.signature.name
            parameters = method.signature.parameters
            result = method.signature.result
            isAsync = method.signature.isAsync
            isThrowing = method.signature.isThrowing
            constraints = method.signature.constraints
            self.owner = owner
            usesOwnName = method.usesOwnName
            parameterTypes = method.parameters
            resultType = method.result
        }

        /// Whether two methods have the same class, name and types.
        public static func == (left: Method, right: Method) -> Bool {
            left.name == right.name && left.parameters == right.parameters && left.result == right.result && left.owner == right.owner
        }

        /// Hashes the parts that `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(parameters)
            hasher.combine(owner)
        }

        /// The name with the types.
        public var description: String {
            let list = zip(name.labels, parameters).map { "\($0): \($1)" }.joined(separator: ", ")
            return name.isProperty ? "\(name): \(result)" : "\(name.baseName)(\(list)) -> \(result)"
        }
    }

    /// The methods of the client and of its superclasses up to ``WebServiceClient/WebServiceClient``, sorted by name.
    public let methods: [Method]
    /// The part of the methods that the list contains.
    public let completeness: Completeness
    /// The files that can't be read, with the reasons. They may contain extensions of the class.
    public let unreadableFiles: [String]

    /// Lists the methods of a client. This takes some hundredths of a second, depending on the size of the process's files.
    public init(of client: WebServiceClient.Type) {
        self = Self.lists(of: [client], SymbolSearch()).first ?? MethodList(methods: [], .unreadable("there is no class"), [])
    }

    private init(methods: [Method], _ completeness: Completeness, _ unreadableFiles: [String]) {
        (self.methods, self.completeness, self.unreadableFiles) = (methods, completeness, unreadableFiles)
    }

    /// Returns the declarations of an executable file's symbols that begin with a text. For fuzz tests of the code that reads the file's
    /// bytes.
    @_spi(Fuzzing) public static func declarations(in data: Data, beginningWith prefix: String) throws -> [String] {
        try ObjectFile.declarations(in: data, beginningWith: prefix)
    }

    /// Lists the methods of some clients in one pass over the files.
    static func lists(of clients: [WebServiceClient.Type], _ search: SymbolSearch) -> [MethodList] {
        let lines = clients.map { client -> [AnyClass] in
            var classes: [AnyClass] = [client]
            while let last = classes.last, let parent = _getSuperclass(last), parent != WebServiceClient.self { classes.append(parent) }
            return classes.filter { $0 != WebServiceClient.self }
        }
        var types: [AnyClass] = []
        for type in lines.joined() where !types.contains(where: { $0 == type }) { types.append(type) }
        let found = search.methods(of: types)
        return lines.map { line in
            var methods: [Method] = []
            var completeness = Completeness.complete
            for type in line {
                guard let index = types.firstIndex(where: { $0 == type }) else { continue }
                methods += found[index].methods.map { Method($0, owner: String(describing: type)) }
                completeness = completeness.lesser(found[index].completeness)
            }
            methods.sort { ($0.name.description, $0.owner) < ($1.name.description, $1.owner) }
            return MethodList(methods: methods, completeness, search.problems)
        }
    }
}

extension MethodList.Completeness {
    /// Returns the lesser of two: the list of a class is at most as complete as those of its superclasses.
    fileprivate func lesser(_ other: MethodList.Completeness) -> MethodList.Completeness {
        switch (self, other) {
        case (.unreadable, _), (.publicOnly, .complete), (.publicOnly, .publicOnly), (.complete, .complete): self
        case (_, .unreadable), (.complete, .publicOnly): other
        }
    }
}
