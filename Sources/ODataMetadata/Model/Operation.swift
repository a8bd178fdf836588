extension ServiceModel {
    /// Whether an operation can have side effects.
    public enum OperationKind: String, Sendable, Hashable {
        /// An action: it may have side effects, and is called by POST.
        case action = "Action"
        /// A function: it has no side effects, and is called by GET.
        case function = "Function"
    }

    /// One overload of an action or a function (section 12).
    public struct Operation: Element, Hashable {
        /// Whether the operation is an action or a function.
        public var kind: OperationKind
        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name, which overloads share.
        public let qualifiedName: String
        /// Whether the operation is bound to the type of its first parameter.
        public var isBound: Bool
        /// Whether query options such as `$filter` can be applied to the result; always `false` for actions.
        public var isComposable: Bool
        /// The path from the binding parameter to the entity set of the returned entities, or `nil`.
        public var entitySetPath: String?
        /// The parameters, the binding parameter first.
        public var parameters: [Parameter]
        /// The return type, or `nil`.
        public var returnType: ReturnType?
        /// The annotations of the overload.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The path of the overload: `Sales.Cancel(Sales.Order)` for an action that is bound to an order,
        /// `Sales.Find(Edm.String,Edm.Int32)` for a function with two parameters.
        public let target: String
        /// The position in the document.
        public var position: Position? { place.position }
        /// The type of the binding parameter, or `nil` if the operation isn't bound.
        public var bindingType: TypeReference? { isBound ? parameters.first?.type : nil }
        /// The parameters that a caller passes: all except the binding parameter and the output parameters of V2 and V3 (`Mode="Out"`).
        public var callParameters: ArraySlice<Parameter> {
            let parameters = isBound ? parameters.dropFirst() : parameters[...]
            return parameters.contains(where: \.isOutput) ? parameters.filter { !$0.isOutput }[...] : parameters
        }

        /// Creates an operation. It becomes the declaring operation of its parameters and return type.
        public init(
            kind: OperationKind, namespace: String, name: String, isBound: Bool = false, isComposable: Bool = false,
            entitySetPath: String? = nil, parameters: [Parameter] = [], returnType: ReturnType? = nil, annotations: [Annotation] = [],
            extensions: Extensions = Extensions()
        ) {
            self.kind = kind
            self.namespace = namespace
            self.name = name
            qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.isBound = isBound
            self.isComposable = isComposable
            self.entitySetPath = entitySetPath
            self.parameters = parameters
            self.returnType = returnType
            self.annotations = annotations
            self.extensions = extensions
            let types = kind == .function ? parameters[...] : isBound ? parameters.prefix(1) : []
            target = qualifiedName + "(" + types.map(\.type.description).joined(separator: ",") + ")"
            for index in parameters.indices { self.parameters[index].declaringOperation = target }
            self.returnType?.declaringOperation = target
        }
    }

    /// A parameter of an operation (section 12.9).
    public struct Parameter: Element, Hashable {
        /// The name.
        public var name: String
        /// The type with its facets.
        public var type: TypeReference
        /// The path of the overload that declares the parameter.
        public internal(set) var declaringOperation: String = ""
        /// The annotations of the parameter.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Cancel(Sales.Order)/reason`.
        public var target: String { declaringOperation + "/" + name }
        fileprivate var isOutput: Bool { extensions["Mode"] == "Out" }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a parameter.
        public init(name: String, type: TypeReference, annotations: [Annotation] = [], extensions: Extensions = Extensions()) {
            self.name = name
            self.type = type
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// The return type of an operation (section 12.8).
    public struct ReturnType: Element, Hashable {
        /// The type with its facets.
        public var type: TypeReference
        /// The path of the overload that declares the return type.
        public internal(set) var declaringOperation: String = ""
        /// The annotations of the return type.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Cancel(Sales.Order)/$ReturnType`.
        public var target: String { declaringOperation + "/$ReturnType" }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a return type.
        public init(type: TypeReference, annotations: [Annotation] = [], extensions: Extensions = Extensions()) {
            self.type = type
            self.annotations = annotations
            self.extensions = extensions
        }
    }
}
